/** Time that passes when a test says so. */
import type { Clock } from "../../bridge/ports.ts";

/** A clock that stands still. */
export class FakeClock implements Clock {
  #now: number;

  constructor(startMs = 1_800_000_000_000) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.#now += ms;
  }
}
