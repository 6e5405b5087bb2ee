/** Fulcio, its certificate transparency log and a time stamp authority, in memory. */
import { fulcioHandler, initializeCA, initializeCTLog } from "@sigstore/mock";
import { initializeTSA, tsaHandler } from "@sigstore/mock";
import { ASN1Obj, EXTENSION_OID_SCT, X509Certificate } from "@sigstore/core";
import { Buffer } from "node:buffer";
import { createHash, generateKeyPairSync, sign } from "node:crypto";

/** What the mock's handlers are asked and answer. */
export type Handler = ReturnType<typeof fulcioHandler>;

/** Changes a certificate before it is logged and signed. */
export type EditCertificate = (certificate: X509Certificate) => void;

/** A certificate to issue. */
export interface CertificateRequest {
  /** SPKI in DER. */
  readonly publicKey: Buffer;
  /** Becomes the one Subject Alternative Name, a URI. */
  readonly identity: string;
  /** Left out of the certificate when absent. */
  readonly issuer?: string;
  /** The moment from which it is valid, for 10 minutes; now when absent. */
  readonly clock?: Date;
  readonly edit?: EditCertificate;
}

const OID_ISSUER_V2 = "1.3.6.1.4.1.57264.1.8";

/** The authorities of one stack; their keys die with them. */
export class Authorities {
  readonly #caKeys: ReturnType<typeof newKeys>;
  readonly #ctLog: Awaited<ReturnType<typeof initializeCTLog>>;
  readonly #tsa: Awaited<ReturnType<typeof initializeTSA>>;
  /** Fulcio's signing certificate call. */
  readonly fulcio: Handler;
  /** RFC 3161 time stamps, asked for in JSON. */
  readonly timestamps: Handler;
  /** DER. */
  readonly rootCertificate: Buffer;

  private constructor(parts: {
    caKeys: ReturnType<typeof newKeys>;
    ctLog: Awaited<ReturnType<typeof initializeCTLog>>;
    ca: Awaited<ReturnType<typeof initializeCA>>;
    tsa: Awaited<ReturnType<typeof initializeTSA>>;
    tsaKeys: ReturnType<typeof newKeys>;
  }) {
    this.#caKeys = parts.caKeys;
    this.#ctLog = parts.ctLog;
    this.#tsa = parts.tsa;
    this.fulcio = fulcioHandler(parts.ca, { strict: true });
    this.timestamps = timestampHandler(parts.tsaKeys);
    this.rootCertificate = buffer(parts.ca.rootCertificate);
  }

  /** Makes keys and certificates. */
  static async create(): Promise<Authorities> {
    const caKeys = newKeys();
    const ctLog = await initializeCTLog(newKeys());
    const ca = await initializeCA(caKeys, ctLog);
    const tsaKeys = newKeys();
    const tsa = await initializeTSA(tsaKeys);
    return new Authorities({ caKeys, ctLog, ca, tsa, tsaKeys });
  }

  /** The certificate transparency log's public key and id. */
  get certificateLog(): { publicKey: Buffer; logId: Buffer } {
    return {
      publicKey: buffer(this.#ctLog.publicKey),
      logId: buffer(this.#ctLog.logID),
    };
  }

  /** Leaf and root of the time stamp authority, DER. */
  get timestampChain(): Buffer[] {
    return [
      buffer(this.#tsa.intCertificate),
      buffer(this.#tsa.rootCertificate),
    ];
  }

  /** Issues a certificate as Fulcio would, or as asked. @returns DER */
  async issue(request: CertificateRequest): Promise<Buffer> {
    const ca = await initializeCA(this.#caKeys, this.#ctLog, request.clock);
    const issued = buffer(
      await ca.issueCertificate({
        publicKey: new Uint8Array(request.publicKey),
        subjectAltName: request.identity,
        extensions: request.issuer === undefined
          ? []
          : [{ oid: OID_ISSUER_V2, value: request.issuer }],
      }),
    );
    return request.edit === undefined
      ? issued
      : await this.#reissue(issued, request.edit);
  }

  /** Edits a certificate, then has it logged and signed anew. */
  async #reissue(der: Buffer, edit: EditCertificate): Promise<Buffer> {
    const certificate = X509Certificate.parse(Buffer.from(der));
    const { extensions } = certificate;
    const at = extensions.findIndex((extension) =>
      extension.subs[0]?.toOID() === EXTENSION_OID_SCT
    );
    const [sct] = extensions.splice(at, 1);
    edit(certificate);
    this.#sign(certificate);
    const issuerKey = X509Certificate.parse(Buffer.from(this.rootCertificate))
      .publicKey;
    const issuerId = createHash("sha256").update(issuerKey).digest();
    const logged = new Uint8Array(
      await this.#ctLog.log(
        arrayBuffer(certificate.root.toDER()),
        arrayBuffer(issuerId),
      ),
    );
    if (sct !== undefined) {
      extensions.push(withSct(sct, logged));
    }
    this.#sign(certificate);
    return certificate.root.toDER();
  }

  #sign(certificate: X509Certificate): void {
    const { subs } = certificate.root;
    const [tbs, , signature] = subs;
    if (tbs === undefined || signature === undefined) {
      throw new TypeError("Not a certificate");
    }
    const value = sign("sha384", tbs.toDER(), this.#caKeys.privateKey);
    subs[2] = new ASN1Obj(
      signature.tag,
      Buffer.concat([Buffer.of(0), value]),
      [],
    );
  }
}

/** The mock stamps fractions of a second, which its readers cannot parse. */
function timestampHandler(keys: ReturnType<typeof newKeys>): Handler {
  return {
    path: "/api/v1/timestamp",
    async fn(request) {
      const wholeSecond = new Date(Math.floor(Date.now() / 1000) * 1000);
      const tsa = await initializeTSA(keys, wholeSecond);
      return await tsaHandler(tsa, { strict: true }).fn(request);
    },
  };
}

function withSct(extension: ASN1Obj, sct: Uint8Array): ASN1Obj {
  // The mock hands the SCT out with its own length in front.
  const list = Buffer.concat([
    Buffer.of(sct.length >> 8, sct.length & 255),
    sct,
  ]);
  const copy = ASN1Obj.parseBuffer(Buffer.from(extension.toDER()));
  const wrapper = copy.subs[copy.subs.length - 1];
  const octets = wrapper?.subs[0];
  if (wrapper === undefined || octets === undefined) {
    throw new TypeError("Not an SCT extension");
  }
  wrapper.subs[0] = new ASN1Obj(octets.tag, list, []);
  return copy;
}

function newKeys() {
  return generateKeyPairSync("ec", { namedCurve: "prime256v1" });
}

function buffer(view: ArrayBufferView): Buffer {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
}

function arrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
