/** Arguments against a tool's input schema, and against what every store and upstream can hold. */
import {
  type ArgumentCheck,
  compileArguments,
} from "../../schema/arguments.ts";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import type { ArgumentIssue } from "../errors.ts";

/** Judges the arguments of one tool. */
export type ArgumentValidator = (
  args: JsonObject,
) => Promise<readonly ArgumentIssue[]>;

/**
 * Makes the validator of one input schema. The schema is compiled at the first
 * call, as a host that only lists tools need not pay for it.
 */
export function argumentValidator(inputSchema: JsonObject): ArgumentValidator {
  let compiled: Promise<ArgumentCheck> | undefined;
  return async (args) => {
    const unsafe = unsafeValue(args, "/arguments");
    if (unsafe !== undefined) {
      return [{ ...unsafe, json_pointer: shortened(unsafe.json_pointer) }];
    }
    compiled ??= compileArguments(inputSchema);
    return (await compiled)(args).map((fault) => ({
      ...fault,
      json_pointer: shortened(`/arguments${fault.json_pointer}`),
    }));
  };
}

const MAX_POINTER_LENGTH = 512;

/** A name of a megabyte is not said back: the place it stands in is named instead. */
function shortened(pointer: string): string {
  if (pointer.length <= MAX_POINTER_LENGTH) return pointer;
  const start = pointer.slice(0, MAX_POINTER_LENGTH);
  return start.slice(0, start.lastIndexOf("/"));
}

/**
 * Finds a value that JSON text can carry and I-JSON forbids: a number beyond
 * double, a lone surrogate, or U+0000, which PostgreSQL cannot hold in text.
 *
 * Source: RFC 7493 §2.
 */
function unsafeValue(
  value: JsonValue | undefined,
  pointer: string,
): ArgumentIssue | undefined {
  if (isSafe(value)) return undefined;
  if (typeof value === "number") {
    return issue(pointer, "number", "want a finite number");
  }
  if (typeof value === "string") return unicodeIssue(pointer);
  for (const [key, item] of Object.entries(value as JsonObject)) {
    const at = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!isSafeText(key)) return unicodeIssue(at);
    const found = unsafeValue(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

// Most calls are fine, so no pointer is made before something is known to be wrong.
function isSafe(value: JsonValue | undefined): boolean {
  if (typeof value === "string") return isSafeText(value);
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isSafe);
  const members = value as JsonObject;
  for (const key in members) {
    if (!isSafeText(key) || !isSafe(members[key])) return false;
  }
  return true;
}

function isSafeText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

function unicodeIssue(pointer: string): ArgumentIssue {
  const shown = pointer.toWellFormed().replaceAll("\0", "\uFFFD");
  return issue(shown, "unicode", "want Unicode text without U+0000");
}

function issue(
  json_pointer: string,
  constraint: string,
  message: string,
): ArgumentIssue {
  return { json_pointer, constraint, message };
}
