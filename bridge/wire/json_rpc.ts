/**
 * JSON-RPC 2.0 messages, and the judgement of which kind one is.
 *
 * Source: JSON-RPC 2.0 §4–§6; MCP 2025-11-25, basic/index, "Messages".
 */
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { BridgeError } from "../errors.ts";

/** A request's id: a string, or an integer that a double holds exactly. */
export type RequestId = string | number;

/** `error` of a response. */
export interface JsonRpcError {
  readonly code: number;
  readonly message: string;
  readonly data: JsonObject;
}

/** An answer. `id` is null only where the request's could not be read (JSON-RPC 2.0 §5). */
export type JsonRpcResponse =
  | {
    readonly jsonrpc: "2.0";
    readonly id: RequestId;
    readonly result: JsonObject;
  }
  | {
    readonly jsonrpc: "2.0";
    readonly id: RequestId | null;
    readonly error: JsonRpcError;
  };

/** A message of ours that wants no answer. */
export interface JsonRpcNotification {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params: JsonObject;
}

/** A request of ours to the client. */
export interface JsonRpcRequest extends JsonRpcNotification {
  readonly id: RequestId;
}

/** A message of the peer, judged. */
export type Incoming =
  | {
    readonly kind: "request";
    readonly id: RequestId;
    readonly method: string;
    readonly params: JsonObject;
  }
  | {
    readonly kind: "notification";
    readonly method: string;
    readonly params: JsonObject;
  }
  | {
    readonly kind: "response";
    readonly id: RequestId | undefined;
    readonly result?: JsonValue;
    readonly error?: JsonValue;
  }
  | {
    readonly kind: "invalid";
    /** The id to answer with. */
    readonly id: RequestId | null;
    readonly error: BridgeError;
  };

// A longer id would only be an echo of the caller's own text, held in memory while the call runs.
const MAX_ID_LENGTH = 1024;

/** Whether the value is a JSON object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether the value can be a request's id. Numbers beyond 2^53 were rounded, half characters would be replaced: both would be echoed wrong. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string"
    ? value.length <= MAX_ID_LENGTH && value.isWellFormed()
    : Number.isSafeInteger(value);
}

/**
 * Judges a decoded message. Never throws: what is no JSON-RPC message comes
 * back as `invalid` with the error to answer.
 *
 * `params: null` counts as absent, as peers that cannot leave it out send it.
 */
export function classify(message: JsonValue): Incoming {
  if (Array.isArray(message)) {
    return invalid(
      null,
      "Batches are not part of MCP 2025-11-25",
      "Send one message per line or request.",
    );
  }
  if (!isObject(message)) {
    return invalid(null, "A message must be a JSON object");
  }
  const id = Object.hasOwn(message, "id") ? message["id"] : undefined;
  if (id !== undefined && !isRequestId(id)) {
    // An error response to a message that its sender could not read carries a null id.
    if (id === null && isResponse(message)) {
      return { kind: "response", id: undefined };
    }
    return invalid(
      null,
      "The id must be a string or an integer below 2^53",
      "Number requests with small integers or short strings.",
    );
  }
  if (message["jsonrpc"] !== "2.0") {
    return invalid(id ?? null, 'The message lacks "jsonrpc": "2.0"');
  }
  if (isResponse(message)) return response(message, id);
  return call(message, id);
}

function isResponse(message: JsonObject): boolean {
  return message["method"] === undefined &&
    (Object.hasOwn(message, "result") || Object.hasOwn(message, "error"));
}

function response(message: JsonObject, id: RequestId | undefined): Incoming {
  return {
    kind: "response",
    id,
    ...(message["result"] === undefined ? {} : { result: message["result"] }),
    ...(message["error"] === undefined ? {} : { error: message["error"] }),
  };
}

function call(message: JsonObject, id: RequestId | undefined): Incoming {
  const method = message["method"];
  if (typeof method !== "string") {
    return invalid(id ?? null, "The method must be a string");
  }
  const params = message["params"] ?? {};
  if (!isObject(params)) {
    return id === undefined
      // A notification is never answered, not even a broken one.
      ? { kind: "notification", method, params: {} }
      : {
        kind: "invalid",
        id,
        error: new BridgeError("PARAMS_INVALID", "params must be an object", {
          data: {
            errors: [{
              json_pointer: "",
              constraint: "type",
              message: "want object",
              expected: "object",
            }],
          },
        }),
      };
  }
  return id === undefined
    ? { kind: "notification", method, params }
    : { kind: "request", id, method, params };
}

function invalid(
  id: RequestId | null,
  message: string,
  hint?: string,
): Incoming {
  const options = hint === undefined ? {} : { hint };
  return {
    kind: "invalid",
    id,
    error: new BridgeError("INVALID_REQUEST", message, options),
  };
}
