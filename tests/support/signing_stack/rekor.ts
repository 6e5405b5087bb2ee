/** A small Rekor v1: a growing tree, signed checkpoints, entries by UUID. */
import canonicalize from "canonicalize";
import { Buffer } from "node:buffer";
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
  X509Certificate,
} from "node:crypto";
import { inclusionPath, leafHash, treeRoot } from "./merkle.ts";

/** What a log is made with. */
export interface RekorOptions {
  /** First word of its checkpoints. */
  readonly host: string;
  readonly treeId: bigint;
  /** Entries of older shards before this tree. */
  readonly indexOffset: number;
  readonly now: () => Date;
}

/** An entry as Rekor's API gives it, under its UUID. */
export type RekorAnswer = Record<string, {
  body: string;
  integratedTime: number;
  logID: string;
  logIndex: number;
  verification: {
    signedEntryTimestamp: string;
    inclusionProof: {
      checkpoint: string;
      hashes: string[];
      logIndex: number;
      rootHash: string;
      treeSize: number;
    };
  };
}>;

interface Leaf {
  readonly body: Uint8Array;
  readonly time: number;
}

interface ProposedDsse {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly spec?: {
    readonly proposedContent?: {
      readonly envelope?: string;
      readonly verifiers?: readonly string[];
    };
  };
}

/** A transparency log in memory; its key dies with it. */
export class Rekor {
  readonly #options: RekorOptions;
  readonly #leaves: Leaf[] = [];
  readonly #privateKey: KeyObject;
  /** SPKI in DER. */
  readonly publicKey: Buffer;
  /** SHA-256 of the public key. */
  readonly logId: Buffer;

  constructor(options: RekorOptions) {
    this.#options = options;
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#privateKey = pair.privateKey;
    this.publicKey = pair.publicKey.export({ type: "spki", format: "der" });
    this.logId = createHash("sha256").update(this.publicKey).digest();
  }

  /** The UUID of the entry at a position in this tree. */
  uuid(index: number): string {
    const tree = this.#options.treeId.toString(16).padStart(16, "0");
    return tree + Buffer.from(leafHash(this.#leaf(index).body)).toString("hex");
  }

  /** @returns The position of the entry with this UUID or bare leaf hash. */
  find(uuid: string): number | undefined {
    const index = this.#leaves.findIndex((_, i) => this.uuid(i).endsWith(uuid));
    return index < 0 ? undefined : index;
  }

  /** Takes back the newest entry, as a log that lies would. */
  forget(): void {
    this.#leaves.pop();
  }

  /**
   * Logs a `dsse` 0.0.1 entry after checking its signature, as Rekor does.
   *
   * @returns Its position, and whether it was there before.
   * @throws {TypeError} For any other entry, or one whose signature is wrong.
   */
  add(proposed: unknown): { index: number; known: boolean } {
    return this.addBody(canonicalBody(proposed as ProposedDsse));
  }

  /** Logs these bytes without looking at them. */
  addBody(body: Uint8Array): { index: number; known: boolean } {
    const known = this.#leaves.findIndex((leaf) =>
      Buffer.from(leaf.body).equals(body)
    );
    if (known >= 0) return { index: known, known: true };
    const time = Math.floor(this.#options.now().getTime() / 1000);
    this.#leaves.push({ body, time });
    return { index: this.#leaves.length - 1, known: false };
  }

  /** The entry with its promise and a proof against the tree as it is now. */
  entry(index: number): RekorAnswer {
    const leaf = this.#leaf(index);
    const body = Buffer.from(leaf.body).toString("base64");
    const logID = this.logId.toString("hex");
    const logIndex = index + this.#options.indexOffset;
    const promise = { body, integratedTime: leaf.time, logIndex, logID };
    return {
      [this.uuid(index)]: {
        ...promise,
        verification: {
          signedEntryTimestamp: this.#sign(canonicalize(promise) ?? ""),
          inclusionProof: this.#proof(index),
        },
      },
    };
  }

  #proof(index: number) {
    const hashes = this.#leaves.map(({ body }) => leafHash(body));
    const root = Buffer.from(treeRoot(hashes));
    return {
      checkpoint: this.#checkpoint(root),
      hashes: inclusionPath(index, hashes).map((hash) =>
        Buffer.from(hash).toString("hex")
      ),
      logIndex: index,
      rootHash: root.toString("hex"),
      treeSize: hashes.length,
    };
  }

  /** A signed note. Source: https://github.com/transparency-dev/formats. */
  #checkpoint(root: Buffer): string {
    const { host, treeId } = this.#options;
    const note = `${host} - ${treeId}\n${this.#leaves.length}\n${
      root.toString("base64")
    }\n`;
    const signature = Buffer.concat([
      this.logId.subarray(0, 4),
      Buffer.from(this.#sign(note), "base64"),
    ]);
    return `${note}\n\u2014 ${host} ${signature.toString("base64")}\n`;
  }

  #sign(text: string): string {
    return sign("sha256", Buffer.from(text), this.#privateKey)
      .toString("base64");
  }

  #leaf(index: number): Leaf {
    const leaf = this.#leaves[index];
    if (leaf === undefined) throw new RangeError(`No entry ${index}`);
    return leaf;
  }
}

function canonicalBody(proposed: ProposedDsse): Uint8Array {
  const { envelope: text, verifiers } = proposed.spec?.proposedContent ?? {};
  const [verifier] = verifiers ?? [];
  if (
    proposed.kind !== "dsse" || proposed.apiVersion !== "0.0.1" ||
    text === undefined || verifier === undefined
  ) {
    throw new TypeError("only dsse 0.0.1 entries are logged here");
  }
  const envelope = JSON.parse(text);
  const payload = Buffer.from(envelope.payload, "base64");
  const [{ sig }] = envelope.signatures;
  const pae = preAuthEncoding(envelope.payloadType, payload);
  const { publicKey } = new X509Certificate(Buffer.from(verifier, "base64"));
  if (!verify("sha256", pae, publicKey, Buffer.from(sig, "base64"))) {
    throw new TypeError("the signature does not match the certificate");
  }
  return dsseBody({ envelope: text, payload, sig, verifier });
}

/** The canonical body that Rekor logs for a DSSE envelope. */
export function dsseBody(entry: {
  /** The envelope's JSON, as it was sent. */
  readonly envelope: string;
  readonly payload: Uint8Array;
  /** base64 */
  readonly sig: string;
  /** base64 of the PEM certificate */
  readonly verifier: string;
}): Uint8Array {
  const hash = (bytes: Uint8Array | string) => ({
    algorithm: "sha256",
    value: createHash("sha256").update(bytes).digest("hex"),
  });
  const body = canonicalize({
    apiVersion: "0.0.1",
    kind: "dsse",
    spec: {
      envelopeHash: hash(entry.envelope),
      payloadHash: hash(entry.payload),
      signatures: [{ signature: entry.sig, verifier: entry.verifier }],
    },
  });
  return new TextEncoder().encode(body);
}

/** What DSSE signs. Source: https://github.com/secure-systems-lab/dsse. */
export function preAuthEncoding(type: string, payload: Uint8Array): Buffer {
  const size = new TextEncoder().encode(type).length;
  const head = `DSSEv1 ${size} ${type} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}
