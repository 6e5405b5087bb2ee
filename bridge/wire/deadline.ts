/** One signal that carries a call's cancellation and its deadline. */
import { BridgeError } from "../errors.ts";

/** A running deadline. */
export interface Deadline {
  /** Aborts with the parent's reason, or with `UPSTREAM_TIMEOUT`. */
  readonly signal: AbortSignal;
  /** Stops the timer and lets go of the parent. */
  stop(): void;
}

/** Starts a deadline below a parent signal. */
export function startDeadline(
  parent: AbortSignal,
  timeoutMs: number,
): Deadline {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(
    () =>
      controller.abort(
        new BridgeError(
          "UPSTREAM_TIMEOUT",
          `The call took longer than ${Math.round(timeoutMs / 1000)} s`,
        ),
      ),
    timeoutMs,
  );
  return {
    signal: controller.signal,
    stop: () => {
      clearTimeout(timer);
      parent.removeEventListener("abort", onAbort);
    },
  };
}

/**
 * Waits for the work or the abort, whichever comes first, so that work that
 * ignores its signal holds nobody up.
 *
 * @throws The work's error, or the signal's reason once it has aborted.
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  // Whichever loses the race may still reject later, with nobody left to hear it.
  work.catch(() => {});
  promise.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
