/** The Merkle tree of a transparency log. Source: RFC 6962 §2.1. */
import { createHash } from "node:crypto";

function sha256(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Hash of a leaf: one zero byte before it keeps leaves and nodes apart. */
export function leafHash(leaf: Uint8Array): Uint8Array {
  return sha256(Uint8Array.of(0), leaf);
}

function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(Uint8Array.of(1), left, right);
}

/** The largest power of two below `size`: where a tree of that size is cut. */
function cut(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/** The root of a tree over at least one leaf hash. */
export function treeRoot(hashes: readonly Uint8Array[]): Uint8Array {
  const [only] = hashes;
  if (only === undefined) throw new RangeError("A tree needs a leaf");
  if (hashes.length === 1) return only;
  const at = cut(hashes.length);
  return nodeHash(treeRoot(hashes.slice(0, at)), treeRoot(hashes.slice(at)));
}

/** The hashes that prove leaf `index` to be under the root, lowest first. */
export function inclusionPath(
  index: number,
  hashes: readonly Uint8Array[],
): Uint8Array[] {
  if (hashes.length === 1) return [];
  const at = cut(hashes.length);
  const left = hashes.slice(0, at), right = hashes.slice(at);
  return index < at
    ? [...inclusionPath(index, left), treeRoot(right)]
    : [...inclusionPath(index - at, right), treeRoot(left)];
}
