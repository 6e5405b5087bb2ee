/** Bundle entries made from bytes, and the order in which entries are kept. */
import { sha256Hex } from "./digest.ts";
import type { BundleEntry } from "./types.ts";

/** An entry whose content is in memory. */
export async function memoryEntry(
  path: string,
  content: Uint8Array<ArrayBuffer> | string,
  mode: 0o644 | 0o755 = 0o644,
): Promise<BundleEntry> {
  const bytes = typeof content === "string"
    ? new TextEncoder().encode(content)
    : content;
  return {
    path,
    mode,
    size: bytes.length,
    sha256: await sha256Hex(bytes),
    read: () => Promise.resolve(bytes),
  };
}

/**
 * Orders paths by their UTF-8 bytes, which is the order of code points and
 * depends on no locale.
 */
export function comparePaths(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i), y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

// A surrogate half stands for a code point above every other unit: UTF-16 order
// and UTF-8 order differ only in that.
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The same entries, sorted by the UTF-8 bytes of their paths. */
export function sortEntries(entries: Iterable<BundleEntry>): BundleEntry[] {
  return [...entries].sort((a, b) => comparePaths(a.path, b.path));
}
