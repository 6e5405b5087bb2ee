/** A bounded number of things at once, the rest in a bounded queue, first come first served. */
import { BridgeError } from "../../errors.ts";

/** Slots to run work in. */
export class Slots {
  readonly #upstream: string;
  readonly #queue: { readonly start: () => void }[] = [];
  readonly #maxWaiting: number;
  #free: number;

  /**
   * @param upstream As the caller may read it.
   * @param size How much runs at once.
   * @param maxWaiting How much may wait.
   */
  constructor(upstream: string, size: number, maxWaiting: number) {
    this.#upstream = upstream;
    this.#free = size;
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs the work once a slot is free.
   *
   * @throws {BridgeError} `UPSTREAM_UNAVAILABLE` where too much waits already.
   * @throws The signal's reason, if it aborts while the work waits.
   */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#acquire(signal);
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #acquire(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#free > 0) {
      this.#free--;
      return Promise.resolve();
    }
    if (this.#queue.length >= this.#maxWaiting) {
      return Promise.reject(
        new BridgeError("UPSTREAM_UNAVAILABLE", `${this.#upstream} is busy`, {
          retryAfterSeconds: 1,
        }),
      );
    }
    return new Promise((resolve, reject) => {
      const place = {
        start: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = () => {
        const at = this.#queue.indexOf(place);
        if (at !== -1) this.#queue.splice(at, 1);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#queue.push(place);
    });
  }

  #release(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#free++;
    else next.start();
  }
}
