/** What a validator says about a manifest: findings are data, never exceptions. */
import type { JsonValue } from "./json.ts";

/** Errors fail validation; warnings fail it only where the caller is strict. */
export type Severity = "error" | "warning";

/** One fault at one place. Source: TASK-PLUGIN-001 §8 and §11.4. */
export interface Finding {
  /** RFC 6901, decoded: `/tools/0/name`. A missing property points where it should be. */
  readonly json_pointer: string;
  /** The JSON Schema keyword that failed, or the name of a rule of ours. */
  readonly constraint: string;
  /** What would be right, where one value says it. */
  readonly expected?: JsonValue;
  /** The value that was found; long texts are cut, objects and arrays described. */
  readonly actual?: JsonValue;
  /** One sentence for people, without a full stop. */
  readonly message: string;
  /** What to do about it, and the clause that asks for it. */
  readonly hint: string;
  /** Whether it fails validation. */
  readonly severity: Severity;
  /** From 1, in {@link file} where given, else in the manifest. */
  readonly line: number;
  /** From 1, in UTF-16 code units as editors count. */
  readonly column: number;
  /** The line there, cut where long. */
  readonly excerpt: string;
  /** A file that the manifest declares, where the fault lies in it: `skills/x/SKILL.md`. */
  readonly file?: string;
}

/** The members that TASK-PLUGIN-001 §8 gives a validation error. */
export interface SpecError {
  /** As in {@link Finding}; so are the others. */
  readonly json_pointer: string;
  /** What was broken. */
  readonly constraint: string;
  /** What would be right. */
  readonly expected?: JsonValue;
  /** What was found. */
  readonly actual?: JsonValue;
  /** In plain words. */
  readonly message: string;
  /** What to do, and the clause. */
  readonly hint: string;
}

/** The finding in exactly the specification's shape. */
export function toSpecError(finding: Finding): SpecError {
  const { json_pointer, constraint, expected, actual, message, hint } = finding;
  return {
    json_pointer,
    constraint,
    ...(expected === undefined ? {} : { expected }),
    ...(actual === undefined ? {} : { actual }),
    message,
    hint,
  };
}

const MAX_SHOWN = 200;

/** A value short enough to show: texts are cut, objects and arrays described. */
export function showValue(value: JsonValue | undefined): JsonValue {
  if (value === undefined) return null;
  if (typeof value === "string") {
    return value.length <= MAX_SHOWN
      ? value
      : `${value.slice(0, MAX_SHOWN).toWellFormed()}…`;
  }
  if (Array.isArray(value)) return `array of ${value.length}`;
  if (typeof value === "object" && value !== null) return "object";
  return value;
}

/** The JSON type's name with its article, for sentences. */
export function typeInWords(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}
