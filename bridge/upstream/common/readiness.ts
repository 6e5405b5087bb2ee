/** Whether an upstream works: asked at most once in a while, however often `/readyz` is. */
import type { DependencyStatus } from "../../types.ts";
import { orAbort } from "./deadline.ts";

/** What {@link Readiness} needs. */
export interface ReadinessOptions {
  readonly name: string;
  /** How long an answer is worth repeating. */
  readonly freshMs: number;
  readonly timeoutMs: number;
  /** Asks the upstream. What it throws means `down`. */
  readonly probe: (signal: AbortSignal) => Promise<DependencyStatus>;
}

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
    const { name, freshMs } = this.#options;
    if (this.#last && performance.now() - this.#last.at < freshMs) {
      return this.#last.status;
    }
    this.#running ??= this.#probe().finally(() => this.#running = undefined);
    try {
      return await orAbort(this.#running, signal);
    } catch {
      return { name, state: "down", detail: "did not answer in time" };
    }
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

// Messages of refusals are safe for a caller to see, those of bugs are not.
function detailOf(error: unknown): string {
  return error instanceof Error && error.name === "BridgeError"
    ? error.message
    : "failed";
}
