/**
 * A yes to most instances at a fraction of the library's cost. A yes is sure; a
 * no only means that the library must look.
 */
import type { JsonObject, JsonValue } from "../json.ts";

/** True only for instances that are valid. */
export type QuickCheck = (value: JsonValue | undefined) => boolean;

type MakeCheck = (expected: JsonValue, schema: JsonObject) => QuickCheck;

/** `root` is where `$ref`s point into. */
export function compileQuick(
  schema: JsonObject,
  root: JsonObject = schema,
): QuickCheck {
  const checks: QuickCheck[] = [];
  for (const [keyword, expected] of Object.entries(schema)) {
    if (expected === undefined || ANNOTATIONS.has(keyword)) continue;
    const make = Object.hasOwn(KEYWORDS, keyword)
      ? KEYWORDS[keyword]
      : undefined;
    // A keyword that is not known here is for the library to judge.
    if (make === undefined) return () => false;
    checks.push(make(root)(expected, schema));
  }
  return (value) => {
    for (const check of checks) if (!check(value)) return false;
    return true;
  };
}

/** Keywords that assert nothing. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$defs",
  "title",
  "description",
  "default",
  "examples",
]);

const KEYWORDS: Readonly<Record<string, (root: JsonObject) => MakeCheck>> = {
  $ref: (root) => (reference) => {
    const name = /^#\/\$defs\/(\w+)$/.exec(String(reference))?.[1] ?? "";
    const definition = (root.$defs as JsonObject | undefined)?.[name];
    return isObject(definition) ? compileQuick(definition, root) : () => false;
  },
  type: () => (type) => {
    switch (type) {
      case "object":
        return isObject;
      case "array":
        return Array.isArray;
      case "integer":
        return Number.isSafeInteger;
      case "string":
      case "boolean":
      case "number":
        // deno-lint-ignore valid-typeof
        return (value) => typeof value === type;
      default:
        return () => false;
    }
  },
  const: () => (expected) => (value) => value === expected,
  enum: () => (expected) =>
    Array.isArray(expected)
      ? (value) => expected.includes(value as JsonValue)
      : () => false,
  pattern: () => (pattern) => {
    const regex = new RegExp(String(pattern), "u");
    return (value) => typeof value !== "string" || regex.test(value);
  },
  format: () => (name) => {
    const regex = PLAIN_FORMATS[String(name)];
    return (value) =>
      typeof value !== "string" || (regex?.test(value) ?? false);
  },
  minLength: () => (min) => (value) =>
    typeof value !== "string" || lengthAtLeast(value, min as number),
  // A text of so many code units has no more characters.
  maxLength: () => (max) => (value) =>
    typeof value !== "string" || value.length <= (max as number),
  minimum: () => (min) => (value) =>
    typeof value !== "number" || value >= (min as number),
  maximum: () => (max) => (value) =>
    typeof value !== "number" || value <= (max as number),
  minItems: () => (min) => (value) =>
    !Array.isArray(value) || value.length >= (min as number),
  items: (root) => (items) => {
    const check = compileQuick(items as JsonObject, root);
    return (value) => {
      if (!Array.isArray(value)) return true;
      for (const item of value) if (!check(item)) return false;
      return true;
    };
  },
  required: () => (names) => (value) => {
    if (!isObject(value)) return true;
    for (const name of names as string[]) {
      if (!Object.hasOwn(value, name)) return false;
    }
    return true;
  },
  properties: (root) => (properties, schema) => {
    const checks = new Map(
      Object.entries(properties as JsonObject).map((
        [name, property],
      ) => [name, compileQuick(property as JsonObject, root)]),
    );
    const closed = schema.additionalProperties === false;
    return (value) => {
      if (!isObject(value)) return true;
      for (const name of Object.keys(value)) {
        const check = checks.get(name);
        if (check === undefined ? closed : !check(value[name])) return false;
      }
      return true;
    };
  },
  uniqueItems: () => (expected) => (value) =>
    expected !== true || !Array.isArray(value) ||
    // Equal objects are not told apart here, so they are for the library.
    (new Set(value).size === value.length && !value.some(isCompound)),
  additionalProperties: () => (expected, schema) =>
    // `properties` sees to a false one.
    expected === true ||
      expected === false && schema.properties !== undefined
      ? () => true
      : () => false,
};

/** Texts that are certainly of the format. */
const PLAIN_FORMATS: Readonly<Record<string, RegExp>> = {
  uri: /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?(?:\/[\w.~-]*)*$/,
  email: /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*@[a-z0-9]+(?:\.[a-z0-9]+)*\.[a-z]+$/,
};

/** In code points, as JSON Schema counts; each has at most two code units. */
function lengthAtLeast(text: string, min: number): boolean {
  if (text.length < min) return false;
  return text.length >= 2 * min || [...text].length >= min;
}

function isCompound(value: JsonValue): boolean {
  return typeof value === "object" && value !== null;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
