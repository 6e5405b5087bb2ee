/** Messages to JSON text. */
import type { JsonValue } from "../../schema/json.ts";
import type { Answer } from "./admission.ts";
import { errorAnswer } from "./encode_error.ts";
import type { JsonRpcNotification, JsonRpcRequest } from "./json_rpc.ts";

/**
 * The text of an answer, on one line: JSON text has no raw line feed in it. An
 * answer that cannot be encoded becomes an internal error.
 */
export function encodeAnswer(answer: Answer): string {
  if (answer.encoded !== undefined) return answer.encoded;
  try {
    return JSON.stringify(answer.response);
  } catch (error) {
    const { id } = answer.response;
    const { traceId } = answer;
    return JSON.stringify(errorAnswer(error, { id, traceId }).response);
  }
}

/** The text of a notification or request of ours, on one line. */
export function encodeMessage(
  message: JsonRpcNotification | JsonRpcRequest,
): string {
  return JSON.stringify(message satisfies { readonly params: JsonValue });
}
