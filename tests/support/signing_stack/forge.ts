/** Signatures made by hand: right ones, and wrong in exactly one way. */
import canonicalize from "canonicalize";
import type { JsonObject } from "../../../schema/json.ts";
import { Buffer } from "node:buffer";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import type { CertificateRequest } from "./authorities.ts";
import { dsseBody, preAuthEncoding, type RekorAnswer } from "./rekor.ts";
import type { SigningStack } from "./stack.ts";

/** What is signed, by whom, and what is odd about it. */
export interface ForgeOptions
  extends Partial<Pick<CertificateRequest, "clock" | "edit">> {
  readonly payload: Uint8Array;
  readonly payloadType?: string;
  readonly identity?: string;
  /** `null` leaves the issuer out of the certificate. */
  readonly issuer?: string | null;
  /** Another stack's certificates under this stack's log, or the other way round. */
  readonly certifiedBy?: SigningStack;
  /** The certificate that the log entry names instead, DER in base64. */
  readonly loggedCertificate?: string;
  /** Adds RFC 3161 time stamps. */
  readonly timestamps?: number;
}

/** The identity that forged signatures carry unless told otherwise. */
export const FORGED_IDENTITY =
  "https://github.com/cyberskill/plugin/.github/workflows/release.yml@refs/heads/main";
/** The issuer likewise. */
export const FORGED_ISSUER = "https://token.actions.githubusercontent.com";

/** A signature as a manifest has it, and the bundle it holds. */
export interface ForgedSignature {
  readonly sigstore_bundle: string;
  readonly rekor_uuid: string;
}

/** A bundle's JSON, loose enough to be damaged. */
// deno-lint-ignore no-explicit-any -- tests reach into any corner of it
export type LooseBundle = any;

/** Signs a payload with a new key and certificate, and logs it. */
export async function forgeBundle(
  stack: SigningStack,
  options: ForgeOptions,
): Promise<LooseBundle> {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = await (options.certifiedBy ?? stack).authorities.issue({
    publicKey: keys.publicKey.export({ type: "spki", format: "der" }),
    identity: options.identity ?? FORGED_IDENTITY,
    ...(options.issuer !== null && { issuer: options.issuer ?? FORGED_ISSUER }),
    ...(options.clock && { clock: options.clock }),
    ...(options.edit && { edit: options.edit }),
  });
  const { payload } = options;
  const payloadType = options.payloadType ?? "application/vnd.in-toto+json";
  const signature = sign(
    "sha256",
    preAuthEncoding(payloadType, payload),
    keys.privateKey,
  );
  const envelope = {
    payload: Buffer.from(payload).toString("base64"),
    payloadType,
    signatures: [{ sig: signature.toString("base64"), keyid: "" }],
  };
  const { index } = stack.rekor.addBody(dsseBody({
    envelope: JSON.stringify(envelope),
    payload,
    sig: signature.toString("base64"),
    verifier: Buffer.from(pem(
      options.loggedCertificate === undefined
        ? certificate
        : Buffer.from(options.loggedCertificate, "base64"),
    )).toString("base64"),
  }));
  return {
    mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
    verificationMaterial: {
      certificate: { rawBytes: certificate.toString("base64") },
      tlogEntries: [logEntry(stack.rekor.entry(index))],
      timestampVerificationData: {
        rfc3161Timestamps: await timestamps(stack, signature, options),
      },
    },
    dsseEnvelope: envelope,
  };
}

/** Puts a bundle into the form that a manifest carries. */
export function encodeSignature(
  bundle: LooseBundle,
  rekorUuid?: string,
): ForgedSignature {
  const text = canonicalize(bundle) ?? "";
  return {
    sigstore_bundle: Buffer.from(text).toString("base64"),
    rekor_uuid: rekorUuid ?? uuidOf(bundle),
  };
}

/** Signs, logs and encodes at once. */
export async function forgeSignature(
  stack: SigningStack,
  options: ForgeOptions,
): Promise<ForgedSignature> {
  return encodeSignature(await forgeBundle(stack, options));
}

/** Computed here on its own, so that the product's computation has a judge. */
function uuidOf(bundle: LooseBundle): string {
  const [entry] = bundle?.verificationMaterial?.tlogEntries ?? [];
  const envelope = entry?.inclusionProof?.checkpoint?.envelope;
  if (typeof envelope !== "string") return "0".repeat(80);
  const tree = /- (\d+)\n/.exec(envelope)?.[1] ?? "0";
  const leaf = createHash("sha256").update(Buffer.of(0))
    .update(Buffer.from(entry.canonicalizedBody, "base64")).digest("hex");
  return BigInt(tree).toString(16).padStart(16, "0") + leaf;
}

function logEntry(answer: RekorAnswer): JsonObject {
  const [entry] = Object.values(answer);
  if (entry === undefined) throw new TypeError("No entry");
  const { inclusionProof, signedEntryTimestamp } = entry.verification;
  const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64");
  return {
    logIndex: String(entry.logIndex),
    logId: { keyId: base64(entry.logID) },
    kindVersion: { kind: "dsse", version: "0.0.1" },
    integratedTime: String(entry.integratedTime),
    inclusionPromise: { signedEntryTimestamp },
    inclusionProof: {
      logIndex: String(inclusionProof.logIndex),
      rootHash: base64(inclusionProof.rootHash),
      treeSize: String(inclusionProof.treeSize),
      hashes: inclusionProof.hashes.map(base64),
      checkpoint: { envelope: inclusionProof.checkpoint },
    },
    canonicalizedBody: entry.body,
  };
}

async function timestamps(
  stack: SigningStack,
  signature: Uint8Array,
  { timestamps = 0 }: ForgeOptions,
): Promise<JsonObject[]> {
  const request = JSON.stringify({
    artifactHash: createHash("sha256").update(signature).digest("base64"),
    hashAlgorithm: "sha256",
  });
  const stamps: JsonObject[] = [];
  for (let i = 0; i < timestamps; i++) {
    const { response } = await stack.authorities.timestamps.fn(request);
    if (typeof response === "string") throw new TypeError(response);
    const { buffer, byteOffset, byteLength } = response;
    const stamp = Buffer.from(buffer, byteOffset, byteLength);
    stamps.push({ signedTimestamp: stamp.toString("base64") });
  }
  return stamps;
}

function pem(der: Buffer): string {
  const lines = der.toString("base64").replace(/.{1,64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}
