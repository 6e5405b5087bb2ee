/** What a caller is told of anything that was thrown. */
import type { JsonObject } from "../../schema/json.ts";
import { BRIDGE_ERRORS, BridgeError, type ErrorClass } from "../errors.ts";
import type { TaskFailure } from "../types.ts";

/** The class of whatever was thrown; a throw that is no {@link BridgeError} is a bug of ours. */
export function errorClassOf(error: unknown): ErrorClass {
  return error instanceof BridgeError ? error.class : "internal_error";
}

/** What the span says about it: the class, or `panic` for a bug. */
export function outcomeOf(error: unknown): string {
  return error instanceof BridgeError ? error.class : "panic";
}

/**
 * The error object of PRODUCT decision D2, the same inside a JSON-RPC answer
 * and in the row of a failed task.
 *
 * A throw that is no {@link BridgeError} shows nothing of itself: whoever
 * caught it logs it whole under the trace id.
 *
 * Source: TASK-PLUGIN-002 §1 clauses 7 and 13, §3 "Error envelope".
 *
 * @param traceId W3C trace id of the call, 32 lower-case hex digits.
 */
export function toFailure(error: unknown, traceId: string): TaskFailure {
  const refusal = error instanceof BridgeError
    ? error
    : new BridgeError("INTERNAL", "Internal error");
  return {
    code: BRIDGE_ERRORS[refusal.code].rpcCode,
    message: refusal.message,
    data: failureData(refusal, traceId),
  };
}

function failureData(refusal: BridgeError, traceId: string): JsonObject {
  return {
    ...refusal.data,
    class: refusal.class,
    trace_id: traceId,
    hint: refusal.hint,
    retryable: refusal.retryable,
    ...(refusal.retryAfterSeconds === undefined
      ? {}
      : { retry_after_seconds: refusal.retryAfterSeconds }),
  };
}
