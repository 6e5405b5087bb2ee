/** Waits that end. */

/** Resolves after the time. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Rejects with `STATEMENT_TIMEOUT` when the time is over; what was asked may still happen. */
export function within<T>(
  work: PromiseLike<T>,
  timeoutMs: number,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(
          Object.assign(new Error("The database does not answer"), {
            code: "STATEMENT_TIMEOUT",
          }),
        ),
      Math.max(0, timeoutMs),
    );
    work.then(resolve, reject).then(() => clearTimeout(timer));
  });
}

/** Rejects with the signal's reason as soon as it aborts. */
export function until<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).then(() =>
      signal.removeEventListener("abort", abort)
    );
  });
}

/** A sleep that can be cut short, and does not keep the process alive. */
export interface Alarm {
  wait(ms: number): Promise<void>;
  /** Ends the wait that is on, if any. */
  ring(): void;
}

/** Makes an {@link Alarm} for one sleeper. */
export function createAlarm(): Alarm {
  let ring = (): void => {};
  return {
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        Deno.unrefTimer(timer as unknown as number);
        ring = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    ring: () => ring(),
  };
}
