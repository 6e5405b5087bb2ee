/** Lines out of bytes: cut at 0x0A only, bounded, decoded whole. */
import { concat } from "../common/bounded_body.ts";

/** A line, or why there is none. */
export type Line =
  | { readonly text: string }
  /** `head` is the beginning of a line over the bound, as far as it is UTF-8. */
  | { readonly fault: "too long" | "not UTF-8"; readonly head: string };

const LINE_FEED = 0x0a;
const HEAD_BYTES = 1024;

/**
 * Splits a byte stream into lines. Other line separators of Unicode are text
 * (RFC 8259 §7 allows them in JSON strings); a byte order mark and a carriage
 * return at the ends of a line are not part of it. After a line over the bound
 * the rest of it is dropped and the next line is read as if nothing happened.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #parts: Uint8Array[] = [];
  #size = 0;
  #dropping = false;

  constructor(maxLineBytes: number) {
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array): readonly Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (
      let to = chunk.indexOf(LINE_FEED);
      to !== -1;
      to = chunk.indexOf(LINE_FEED, from)
    ) {
      this.#take(chunk.subarray(from, to), lines);
      this.#complete(lines);
      from = to + 1;
    }
    if (from < chunk.length) this.#take(chunk.slice(from), lines);
    return lines;
  }

  /** What is left when the stream has ended: a last line without line feed. */
  end(): readonly Line[] {
    const lines: Line[] = [];
    if (this.#size > 0) this.#complete(lines);
    return lines;
  }

  #take(part: Uint8Array, lines: Line[]): void {
    if (this.#dropping || part.length === 0) return;
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size <= this.#maxLineBytes) return;
    const head = concat(this.#parts, this.#size).subarray(0, HEAD_BYTES);
    lines.push({ fault: "too long", head: new TextDecoder().decode(head) });
    this.#dropping = true;
    this.#clear();
  }

  #complete(lines: Line[]): void {
    if (this.#dropping) {
      this.#dropping = false;
      return;
    }
    const bytes = concat(this.#parts, this.#size);
    this.#clear();
    try {
      const text = this.#decoder.decode(bytes);
      lines.push({ text: text.endsWith("\r") ? text.slice(0, -1) : text });
    } catch {
      const head = new TextDecoder().decode(bytes.subarray(0, HEAD_BYTES));
      lines.push({ fault: "not UTF-8", head });
    }
  }

  #clear(): void {
    this.#parts = [];
    this.#size = 0;
  }
}
