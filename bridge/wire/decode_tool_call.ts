/** `params` of `tools/call`, decoded. */
import type { JsonObject } from "../../schema/json.ts";
import { isObject } from "./json_rpc.ts";
import { optionalObject, paramsInvalid, requireText } from "./params.ts";

/** What the caller sent, of the right shape and not yet judged. */
export interface ToolCall {
  readonly name: string;
  /** `{}` where they were absent or null. */
  readonly arguments: JsonObject;
  readonly meta: JsonObject;
  /** Present when the caller wants a task; `ttl` as asked for. */
  readonly task?: { readonly ttlMs?: number };
}

/**
 * Decodes `params`. Text that holds JSON is not taken for arguments: what the
 * schema would see must be what the caller sent.
 *
 * Source: MCP 2025-11-25 schema, `CallToolRequestParams`.
 *
 * @throws {BridgeError} `PARAMS_INVALID` with the place.
 */
export function decodeToolCall(params: JsonObject): ToolCall {
  const name = requireText(params, "name");
  const args = params["arguments"] ?? {};
  if (!isObject(args)) throw paramsInvalid("/arguments", "an object");
  const task = decodeTask(params);
  return {
    name,
    arguments: args,
    meta: optionalObject(params, "_meta"),
    ...(task === undefined ? {} : { task }),
  };
}

function decodeTask(params: JsonObject): ToolCall["task"] {
  const task = params["task"];
  if (task === undefined) return undefined;
  if (!isObject(task)) throw paramsInvalid("/task", "an object");
  const ttl = task["ttl"];
  if (ttl === undefined) return {};
  if (Number.isSafeInteger(ttl) && (ttl as number) >= 0) {
    return { ttlMs: ttl as number };
  }
  throw paramsInvalid("/task/ttl", "a whole number of milliseconds from 0 on");
}
