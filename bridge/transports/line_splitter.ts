/** Bytes to lines. Only 0x0A ends a line: JSON text may hold every other line break unescaped. */

/** A whole line without its end, or the news that one was too long to keep. */
export type Line =
  | { readonly kind: "line"; readonly bytes: Uint8Array }
  | { readonly kind: "too long" };

const LF = 0x0a;
const CR = 0x0d;

/**
 * Splits a stream of bytes, whatever its chunks. A line over the limit is
 * reported once and skipped to its end; the next one is whole again. Blank lines
 * are left out.
 *
 * Source: MCP 2025-11-25, basic/transports, "stdio".
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #size = 0;
  #skipping = false;

  /** @param maxBytes What a line may have, its end not counted. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /**
   * Takes a chunk and gives the lines that it completes.
   *
   * The bytes of a line are valid until the chunk's buffer is used again.
   */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (
      let end = chunk.indexOf(LF);
      end !== -1;
      end = chunk.indexOf(LF, start)
    ) {
      this.#complete(chunk.subarray(start, end), lines);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start), lines);
    return lines;
  }

  /** What stands after the last line end when the stream is over. */
  end(): Line[] {
    const lines: Line[] = [];
    this.#complete(new Uint8Array(0), lines);
    return lines;
  }

  #keep(rest: Uint8Array, lines: Line[]): void {
    if (rest.length === 0 || this.#skipping) return;
    this.#size += rest.length;
    if (this.#size > this.#maxBytes) {
      this.#skipping = true;
      this.#parts = [];
      lines.push({ kind: "too long" });
      return;
    }
    this.#parts.push(rest.slice());
  }

  #complete(last: Uint8Array, lines: Line[]): void {
    const size = this.#size + last.length;
    if (!this.#skipping && size > this.#maxBytes) {
      lines.push({ kind: "too long" });
    } else if (!this.#skipping) {
      const bytes = trimmed(this.#joined(last, size));
      if (bytes.length > 0) lines.push({ kind: "line", bytes });
    }
    this.#parts = [];
    this.#size = 0;
    this.#skipping = false;
  }

  #joined(last: Uint8Array, size: number): Uint8Array {
    if (this.#parts.length === 0) return last;
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of [...this.#parts, last]) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}

/** Without the carriage return of a CRLF; nothing at all for a blank line. */
function trimmed(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && isBlank(bytes[end - 1])) end--;
  return bytes.subarray(0, end);
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === CR;
}
