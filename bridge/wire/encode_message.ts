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
    return wellFormed(JSON.stringify(answer.response));
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
  return wellFormed(
    JSON.stringify(message satisfies { readonly params: JsonValue }),
  );
}

/**
 * JSON text in which half a character of an upstream's, or of a text that was
 * cut, is U+FFFD: parsers of Rust and Python refuse the whole message for it,
 * and their host would wait for ever.
 *
 * Source: RFC 7493 §2.1.
 */
function wellFormed(text: string): string {
  return text.includes("\\ud")
    ? text.replace(
      /(\\\\)|\\ud[89a-f][0-9a-f]{2}/g,
      (_, backslash?: string) => backslash ?? "\\ufffd",
    )
    : text;
}
