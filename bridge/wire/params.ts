/** Reading `params`, each fault with its place. */
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { type ArgumentIssue, BridgeError } from "../errors.ts";
import { isObject } from "./json_rpc.ts";

/**
 * Makes the refusal of a parameter.
 *
 * @param pointer RFC 6901, from `params` on.
 * @param expected What belongs there.
 */
export function paramsInvalid(pointer: string, expected: string): BridgeError {
  const issue: ArgumentIssue = {
    json_pointer: pointer,
    constraint: "type",
    message: `want ${expected}`,
    expected,
  };
  return new BridgeError(
    "PARAMS_INVALID",
    `params${pointer} must be ${expected}`,
    { data: { errors: [{ ...issue }] } },
  );
}

/** A text that must be there. @throws {BridgeError} `PARAMS_INVALID`. */
export function requireText(params: JsonObject, key: string): string {
  const value = params[key];
  if (typeof value === "string") return value;
  throw paramsInvalid(`/${key}`, "a string");
}

/** An object that may be absent. @throws {BridgeError} `PARAMS_INVALID`. */
export function optionalObject(params: JsonObject, key: string): JsonObject {
  const value = params[key];
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw paramsInvalid(`/${key}`, "an object");
}

/** The caller's token for progress of this request, where it gave a usable one. */
export function progressTokenOf(
  meta: JsonObject,
): string | number | undefined {
  const token: JsonValue | undefined = meta["progressToken"];
  return typeof token === "string" || Number.isSafeInteger(token)
    ? token as string | number
    : undefined;
}

/** Text of the caller's, fit to be quoted back in a message. */
export function quote(text: string): string {
  return /^[\x20-\x7e]{1,80}$/.test(text) ? ` "${text}"` : "";
}
