/** SHA-256 without paying for `node:crypto` (19 ms to import) where the bytes are few. */

/** SHA-256 of the bytes, lower-case hex. */
export async function sha256Hex(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Bytes as lower-case hex. */
export function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

// Up to here the chunks are kept and digested in one call.
const BUFFERED_BYTES = 8 * 1024 * 1024;

/** SHA-256 of a stream of chunks, in bounded memory. */
export class Sha256 {
  #chunks: Uint8Array[] = [];
  #buffered = 0;
  #hash: { update(bytes: Uint8Array): unknown; digest(): Uint8Array } | null =
    null;

  /** Takes the next bytes; they may be changed by the caller afterwards. */
  async update(bytes: Uint8Array): Promise<void> {
    if (this.#hash !== null) {
      this.#hash.update(bytes);
      return;
    }
    this.#chunks.push(bytes.slice());
    this.#buffered += bytes.length;
    if (this.#buffered <= BUFFERED_BYTES) return;
    const { createHash } = await import("node:crypto");
    this.#hash = createHash("sha256");
    for (const chunk of this.#chunks) this.#hash.update(chunk);
    this.#chunks = [];
  }

  /** The digest of everything, lower-case hex. Call it once. */
  async digest(): Promise<string> {
    if (this.#hash !== null) return hex(this.#hash.digest());
    return await sha256Hex(concat(this.#chunks, this.#buffered));
  }
}

/** All chunks in one array. */
export function concat(
  chunks: readonly Uint8Array[],
  size: number = chunks.reduce((sum, chunk) => sum + chunk.length, 0),
): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
