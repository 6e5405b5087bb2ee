/** JSON-RPC 2.0 between the bridge and CUO, one message a line. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";

/** A message from CUO that means something to us. */
export type RpcMessage =
  | { readonly kind: "result"; readonly id: number; readonly result: JsonValue }
  | {
    readonly kind: "error";
    readonly id: number;
    /** JSON-RPC error code; the message stays here, it may quote anything. */
    readonly code: number;
  }
  | {
    readonly kind: "notification";
    readonly method: string;
    readonly params: JsonObject;
  };

/** CUO answered with a JSON-RPC error. */
export class RpcRefusal extends Error {
  override readonly name = "RpcRefusal";
  constructor(readonly method: string, readonly code: number) {
    super(`${method} was refused with code ${code}`);
  }
}

/** A request as one line without its line feed. */
export function encodeRequest(
  id: number,
  method: string,
  params: JsonObject,
): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** A notification as one line without its line feed. */
export function encodeNotification(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}

/** Reads a line; `undefined` for all that is neither an answer to a number of ours nor a notification. */
export function parseMessage(text: string): RpcMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const message = value as Record<string, unknown>;
  if (message["jsonrpc"] !== "2.0") return undefined;
  return "method" in message ? notification(message) : response(message);
}

function notification(
  message: Record<string, unknown>,
): RpcMessage | undefined {
  const { method, params, id } = message;
  // A request to us would need an answer, and CUO has nothing to ask.
  if (typeof method !== "string" || id !== undefined) return undefined;
  const isObject = typeof params === "object" && params !== null &&
    !Array.isArray(params);
  return {
    kind: "notification",
    method,
    params: isObject ? params as JsonObject : {},
  };
}

function response(message: Record<string, unknown>): RpcMessage | undefined {
  const { id, error } = message;
  if (typeof id !== "number" || !Number.isSafeInteger(id)) return undefined;
  if (typeof error === "object" && error !== null) {
    const code = (error as Record<string, unknown>)["code"];
    return {
      kind: "error",
      id,
      code: Number.isSafeInteger(code) ? code as number : 0,
    };
  }
  if (!("result" in message)) return undefined;
  return { kind: "result", id, result: message["result"] as JsonValue };
}
