/** Whether an upstream works: asked at most once in a while, however often `/readyz` is. */
import { BridgeError } from "../../errors.ts";
import type { DependencyStatus } from "../../types.ts";
import { orAbort } from "./deadline.ts";

/** What {@link Readiness} needs. */
export interface ReadinessOptions {
  readonly name: string;
  /** How long a good answer is worth repeating. */
  readonly freshMs: number;
  readonly timeoutMs: number;
  /** Asks the upstream. What it throws means `down`. */
  readonly probe: (signal: AbortSignal) => Promise<DependencyStatus>;
}

/** A bad answer is worth repeating only so long: recovery is to show soon. */
const BAD_FRESH_MS = 1_000;

/** Shares one probe among all who ask. A new one is made once the last is stale: recovery shows by itself. */
export class Readiness {
  readonly #options: ReadinessOptions;
  #last: { readonly at: number; readonly status: DependencyStatus } | undefined;
  #running: Promise<DependencyStatus> | undefined;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** Never rejects; an aborted question is answered `down`. */
  async status(signal: AbortSignal): Promise<DependencyStatus> {
    const { name } = this.#options;
    if (this.#last !== undefined && this.#isFresh(this.#last)) {
      return this.#last.status;
    }
    this.#running ??= this.#probe().finally(() => this.#running = undefined);
    try {
      return await orAbort(this.#running, signal);
    } catch {
      return { name, state: "down", detail: "did not answer in time" };
    }
  }

  /** A call has failed: the next question is put anew. */
  doubt(): void {
    this.#last = undefined;
  }

  #isFresh(last: { readonly at: number; readonly status: DependencyStatus }) {
    const { freshMs } = this.#options;
    const worthMs = last.status.state === "ok"
      ? freshMs
      : Math.min(freshMs, BAD_FRESH_MS);
    return performance.now() - last.at < worthMs;
  }

  async #probe(): Promise<DependencyStatus> {
    const { name, timeoutMs, probe } = this.#options;
    // The probe's own time, not one asker's: others wait for the same answer.
    const controller = new AbortController();
    const timer = setTimeout(
      () => controller.abort(new DOMException("timed out", "TimeoutError")),
      timeoutMs,
    );
    let status: DependencyStatus;
    try {
      status = await probe(controller.signal);
    } catch (error) {
      status = { name, state: "down", detail: detailOf(error) };
    } finally {
      clearTimeout(timer);
    }
    this.#last = { at: performance.now(), status };
    return status;
  }
}

/** Whether a call's failure says something of the upstream itself. */
export function isOutage(error: unknown): boolean {
  return error instanceof BridgeError && error.class === "upstream_unavailable";
}

// Messages of refusals are safe for a caller to see, those of bugs are not.
function detailOf(error: unknown): string {
  return error instanceof BridgeError ? error.message : "failed";
}
