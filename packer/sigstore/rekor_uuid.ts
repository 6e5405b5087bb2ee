/** A Rekor v1 entry's UUID, derived from what the log itself signed. */
import { createHash } from "node:crypto";
import { Buffer } from "node:buffer";

/** The signed part of a log checkpoint. */
export interface Checkpoint {
  /** First line: `host - tree id` for Rekor v1. */
  readonly origin: string;
  /** Decimal. */
  readonly treeSize: string;
  readonly rootHash: Buffer;
}

/**
 * Reads a checkpoint (signed note) without verifying it.
 *
 * Source: https://github.com/transparency-dev/formats, checkpoint body.
 */
export function readCheckpoint(envelope: string): Checkpoint | undefined {
  const [origin, treeSize, rootHash] = envelope.split("\n", 3);
  if (!origin || !treeSize || !rootHash) return undefined;
  return { origin, treeSize, rootHash: Buffer.from(rootHash, "base64") };
}

/** What the UUID is made of. */
export interface LoggedEntry {
  readonly canonicalizedBody: Uint8Array;
  readonly checkpointEnvelope: string;
}

const ORIGIN = /^\S+ - ([1-9][0-9]{0,19})$/;

/**
 * @returns 80 lower-case hex digits: the tree id (16) and the RFC 6962 leaf hash
 *   of the entry; absent when the checkpoint is not one of Rekor v1.
 */
export function rekorUuid(entry: LoggedEntry): string | undefined {
  const origin = readCheckpoint(entry.checkpointEnvelope)?.origin ?? "";
  const treeId = ORIGIN.exec(origin)?.[1];
  if (treeId === undefined || BigInt(treeId) >= 1n << 64n) return undefined;
  const leaf = createHash("sha256").update(Uint8Array.of(0))
    .update(entry.canonicalizedBody).digest("hex");
  return BigInt(treeId).toString(16).padStart(16, "0") + leaf;
}
