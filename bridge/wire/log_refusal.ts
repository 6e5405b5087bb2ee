/** What the log keeps of a refused request. */
import { BridgeError } from "../errors.ts";
import type { Logger } from "../ports.ts";

/**
 * Logs a refusal under its trace id: a bug whole, with its stack; an upstream's
 * failure with its cause; the caller's own mistakes at debug level.
 */
export function logRefusal(log: Logger, error: unknown, traceId: string): void {
  if (!(error instanceof BridgeError)) {
    log.error("panic", { trace_id: traceId, error: wholeOf(error) });
    return;
  }
  const fields = {
    trace_id: traceId,
    code: error.code,
    message: error.message,
    ...(error.cause === undefined ? {} : { cause: wholeOf(error.cause) }),
  };
  if (error.class === "internal_error") log.error("refused", fields);
  else if (error.class === "upstream_unavailable") log.warn("refused", fields);
  else log.debug("refused", fields);
}

function wholeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined
    ? stack
    : `${stack}\ncaused by ${wholeOf(error.cause)}`;
}
