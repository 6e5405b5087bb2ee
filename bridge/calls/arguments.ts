/** Arguments against a tool's input schema, and against what every store and upstream can hold. */
import type { Schema } from "@cfworker/json-schema";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import type { ArgumentIssue } from "../errors.ts";

/** Judges the arguments of one tool. */
export type ArgumentValidator = (
  args: JsonObject,
) => Promise<readonly ArgumentIssue[]>;

// An argument list with more faults than this is not corrected one by one.
const MAX_ISSUES = 20;

/**
 * Makes the validator of one input schema. The schema is compiled at the first
 * call, as a host that only lists tools need not pay for it.
 */
export function argumentValidator(inputSchema: JsonObject): ArgumentValidator {
  let compiled: Promise<(args: JsonObject) => ArgumentIssue[]> | undefined;
  return async (args) => {
    const unsafe = unsafeValue(args, "/arguments");
    if (unsafe !== undefined) return [unsafe];
    compiled ??= compile(inputSchema);
    return (await compiled)(args);
  };
}

/**
 * A value that JSON text can carry and I-JSON forbids: a number beyond double,
 * a lone surrogate, or U+0000, which PostgreSQL cannot hold in text.
 *
 * Source: RFC 7493 §2.
 */
function unsafeValue(
  value: JsonValue | undefined,
  pointer: string,
): ArgumentIssue | undefined {
  if (typeof value === "number") {
    return Number.isFinite(value)
      ? undefined
      : issue(pointer, "number", "want a finite number");
  }
  if (typeof value === "string") return unsafeText(value, pointer);
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const at = `${pointer}/${escapePointer(key)}`;
    const found = unsafeText(key, at) ?? unsafeValue(item, at);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unsafeText(text: string, pointer: string): ArgumentIssue | undefined {
  if (!text.isWellFormed()) {
    return issue(pointer, "unicode", "want well-formed Unicode text");
  }
  return text.includes("\0")
    ? issue(pointer, "unicode", "want text without U+0000")
    : undefined;
}

function issue(
  json_pointer: string,
  constraint: string,
  message: string,
): ArgumentIssue {
  return { json_pointer: toWellFormed(json_pointer), constraint, message };
}

function toWellFormed(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}

function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

// Placeholder until schema/arguments.ts lands.
async function compile(
  inputSchema: JsonObject,
): Promise<(args: JsonObject) => ArgumentIssue[]> {
  const { Validator } = await import("@cfworker/json-schema");
  const validator = new Validator(inputSchema as Schema, "2020-12", false);
  return (args) =>
    validator.validate(args).errors
      .filter(({ keyword }) => keyword !== "properties" && keyword !== "items")
      .slice(0, MAX_ISSUES)
      .map(({ instanceLocation, keyword, error }) => ({
        json_pointer: "/arguments" + decodeURIComponent(
          instanceLocation.slice(1),
        ),
        constraint: keyword,
        message: error,
      }));
}
