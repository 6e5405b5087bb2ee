/** Lets Ctrl-C and SIGTERM end a command in order: temporary files go first. */

/** What {@link interruptible} gives when a signal came. */
export const INTERRUPTED: unique symbol = Symbol("interrupted");

const SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Runs work that heeds an abort signal, and aborts it when the process is told
 * to end.
 */
export async function interruptible<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | typeof INTERRUPTED> {
  const stop = new AbortController();
  const abort = () => stop.abort();
  for (const signal of SIGNALS) Deno.addSignalListener(signal, abort);
  try {
    return await work(stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return INTERRUPTED;
    throw error;
  } finally {
    for (const signal of SIGNALS) Deno.removeSignalListener(signal, abort);
  }
}
