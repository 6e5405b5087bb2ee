/** The one translation from anything thrown to a JSON-RPC error. */
import { toFailure } from "../calls/failure.ts";
import { BridgeError } from "../errors.ts";
import type { Answer } from "./admission.ts";
import type { RequestId } from "./json_rpc.ts";

/**
 * Encodes a refusal or a bug as the answer to a request.
 *
 * @param error Anything that was thrown; what is no {@link BridgeError} becomes
 * "Internal error" and shows nothing of itself.
 * @param request `id` null where the request's could not be read.
 */
export function errorAnswer(
  error: unknown,
  request: { readonly id: RequestId | null; readonly traceId: string },
): Answer {
  const { code, message, data } = toFailure(error, request.traceId);
  return {
    response: {
      jsonrpc: "2.0",
      id: request.id,
      error: { code, message, data },
    },
    error: error instanceof BridgeError
      ? error
      : new BridgeError("INTERNAL", "Internal error"),
    traceId: request.traceId,
  };
}
