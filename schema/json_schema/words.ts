/** Failed keywords in words: what the value must be. */
import type { JsonValue } from "../json.ts";
import { typeInWords } from "../finding.ts";
import type { SchemaFault } from "./faults.ts";

const PHRASES: Readonly<Record<string, (expected: JsonValue) => string>> = {
  minLength: (n) => `must have at least ${count(n, "character")}`,
  maxLength: (n) => `must have at most ${count(n, "character")}`,
  minItems: (n) => `must have at least ${count(n, "item")}`,
  maxItems: (n) => `must have at most ${count(n, "item")}`,
  minProperties: (n) => `must have at least ${count(n, "member")}`,
  maxProperties: (n) => `must have at most ${count(n, "member")}`,
  minimum: (n) => `must be at least ${show(n)}`,
  maximum: (n) => `must be at most ${show(n)}`,
  exclusiveMinimum: (n) => `must be more than ${show(n)}`,
  exclusiveMaximum: (n) => `must be less than ${show(n)}`,
  multipleOf: (n) => `must be a multiple of ${show(n)}`,
  pattern: (regex) => `must match ${show(regex)}`,
  format: (name) => `must be a valid ${show(name)}`,
  const: (value) => `must be ${show(value)}`,
  enum: (values) =>
    Array.isArray(values)
      ? `must be one of ${values.map(show).join(", ")}`
      : "must be one of the listed values",
  uniqueItems: () => "must not repeat an item",
};

/** The end of a sentence whose subject is the value: `must be at most 50`. */
export function requirement(fault: SchemaFault): string {
  const { constraint, expected, actual } = fault;
  if (constraint === "type") {
    return `must be ${typeNames(expected)}, not ${typeInWords(actual)}`;
  }
  const phrase = Object.hasOwn(PHRASES, constraint)
    ? PHRASES[constraint]
    : undefined;
  return phrase === undefined || expected === undefined
    ? `does not satisfy '${constraint}'`
    : phrase(expected);
}

function typeNames(expected: JsonValue | undefined): string {
  const names = Array.isArray(expected) ? expected : [expected];
  return names
    .map((name) => /^[aeiou]/.test(String(name)) ? `an ${name}` : `a ${name}`)
    .join(" or ");
}

function count(n: JsonValue, noun: string): string {
  return `${show(n)} ${noun}${n === 1 ? "" : "s"}`;
}

function show(value: JsonValue): string {
  return typeof value === "string" ? `'${value}'` : JSON.stringify(value);
}
