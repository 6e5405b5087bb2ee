/** Deadlines and cancellation, as the refusals that a caller sees. */
import { BridgeError } from "../../errors.ts";

/** A signal of its own that follows a parent and ends after a time. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Forgets timer and parent; call it in `finally`. */
  end(): void;
}

/**
 * Starts a deadline under a parent signal.
 *
 * Not `AbortSignal.timeout`: its timer cannot be taken back, and a bridge that
 * answers thousands of calls a second would carry one for each.
 */
export function startDeadline(
  parent: AbortSignal,
  timeoutMs: number,
): Deadline {
  const controller = new AbortController();
  const follow = () => controller.abort(parent.reason);
  const timer = setTimeout(
    () => controller.abort(new DOMException("timed out", "TimeoutError")),
    timeoutMs,
  );
  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      parent.removeEventListener("abort", follow);
    },
  };
}

/** The refusal for a call that its signal ended: the reason itself where that is one. */
export function abortError(signal: AbortSignal, upstream: string): BridgeError {
  const reason: unknown = signal.reason;
  if (reason instanceof BridgeError) return reason;
  const timedOut = reason instanceof DOMException &&
    reason.name === "TimeoutError";
  return timedOut
    ? new BridgeError(
      "UPSTREAM_TIMEOUT",
      `${upstream} did not answer in time`,
    )
    : new BridgeError("TASK_CANCELLED", "The call was cancelled", {
      hint: "Call again if you still want the answer.",
    });
}

/** The promise's outcome, or a rejection with the abort's reason as soon as the signal aborts. */
export function orAbort<T>(
  promise: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => {});
    return Promise.reject(signal.reason);
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() =>
      signal.removeEventListener("abort", onAbort)
    );
  });
}

/** Resolves after a time; rejects with the abort's reason if the signal aborts first. */
export function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Whether the promise settled within the time. Never rejects. */
export async function settledWithin(
  promise: Promise<unknown>,
  ms: number,
): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settled = promise.then(() => true, () => true);
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const result = await Promise.race([settled, late]);
  clearTimeout(timer);
  return result;
}
