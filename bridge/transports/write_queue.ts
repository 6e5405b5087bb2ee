/** One ordered queue of lines to a stream that takes what it likes at a time. */

/** Where the bytes go, such as `Deno.stdout`. May take fewer bytes than it is given. */
export interface ByteSink {
  /** Takes some of the bytes and says how many. */
  write(bytes: Uint8Array): Promise<number>;
}

/** Messages that wait are joined up to about this size before a write. */
const BATCH_CHARS = 65_536;

/**
 * Writes lines whole and in order. After a failed write (the reader has gone)
 * it drops everything and says so once.
 */
export class WriteQueue {
  readonly #sink: ByteSink;
  readonly #onFailure: (error: unknown) => void;
  readonly #encoder = new TextEncoder();
  #waiting: string[] = [];
  #waitingChars = 0;
  #writing: Promise<void> | undefined;
  #failed = false;
  #onDrain: (() => void) | undefined;

  /** @param onFailure Told once, when the sink takes no more. */
  constructor(sink: ByteSink, onFailure: (error: unknown) => void) {
    this.#sink = sink;
    this.#onFailure = onFailure;
  }

  /** Characters that wait or are being written. */
  get pending(): number {
    return this.#waitingChars;
  }

  /** Queues one line, given without its end. */
  push(line: string): void {
    if (this.#failed) return;
    this.#waiting.push(line);
    this.#waitingChars += line.length + 1;
    this.#writing ??= this.#drain();
  }

  /** Resolves when all that is queued now has been written, or never will be. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Resolves as soon as no more than this many characters wait. For one waiter at a time. */
  async below(chars: number): Promise<void> {
    while (!this.#failed && this.#waitingChars > chars) {
      await new Promise<void>((resolve) => this.#onDrain = resolve);
    }
  }

  async #drain(): Promise<void> {
    // Lines queued in the same turn of the event loop go out in one write.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) {
        const text = this.#nextBatch();
        await this.#writeAll(this.#encoder.encode(text));
        this.#waitingChars -= text.length;
        this.#onDrain?.();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#writing = undefined;
    }
  }

  #nextBatch(): string {
    let count = 0;
    let chars = 0;
    while (
      count < this.#waiting.length && (count === 0 || chars < BATCH_CHARS)
    ) {
      chars += (this.#waiting[count] as string).length;
      count++;
    }
    return this.#waiting.splice(0, count).join("\n") + "\n";
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await this.#sink.write(bytes.subarray(at));
    }
  }

  #fail(error: unknown): void {
    this.#failed = true;
    this.#waiting = [];
    this.#waitingChars = 0;
    this.#onDrain?.();
    this.#onFailure(error);
  }
}
