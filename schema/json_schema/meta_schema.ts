/** Whether a schema is a valid schema of JSON Schema 2020-12. */
import { typeInWords } from "../finding.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { escapeToken } from "../json_pointer.ts";
import type { KeywordForm } from "./keywords.ts";
import { formOf } from "./keywords.ts";
import { isObject } from "./subschemas.ts";

/** One keyword with a value that it must not have. */
export interface MetaFault {
  readonly json_pointer: string;
  /** What the value must be, as the end of a sentence after "must be". */
  readonly expected: string;
  readonly actual: JsonValue;
  readonly keyword: string;
}

const TYPES: ReadonlySet<JsonValue> = new Set<JsonValue>([
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
]);

/** The faults of one schema object's own keywords; not of the schemas within. */
export function metaFaults(schema: JsonObject, pointer: string): MetaFault[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const form = formOf(keyword);
    if (form === undefined || value === undefined) return [];
    const at = `${pointer}/${escapeToken(keyword)}`;
    return faultsOf(form, value, at).map((fault) => ({ ...fault, keyword }));
  });
}

type Fault = Omit<MetaFault, "keyword">;

function faultsOf(
  form: KeywordForm,
  value: JsonValue,
  json_pointer: string,
): Fault[] {
  const must = (holds: boolean, expected: string): Fault[] =>
    holds ? [] : [{ json_pointer, expected, actual: value }];
  switch (form) {
    case "schema":
      return must(isSchema(value), SCHEMA);
    case "schemas":
      return Array.isArray(value) && value.length > 0
        ? each(value, json_pointer, isSchema, SCHEMA)
        : must(false, "an array of at least one schema");
    case "schemaMap":
      return isObject(value)
        ? each(value, json_pointer, isSchema, SCHEMA)
        : must(false, "an object of schemas");
    case "regexMap":
      return isObject(value)
        ? [
          ...each(value, json_pointer, isSchema, SCHEMA),
          ...regexKeys(value, json_pointer),
        ]
        : must(false, "an object of schemas");
    case "schemaOrNames":
      return isObject(value)
        ? each(
          value,
          json_pointer,
          (item) => isSchema(item) || isNames(item),
          `${SCHEMA}, or an array of different names`,
        )
        : must(false, "an object of schemas or names");
    case "boolean":
      return must(typeof value === "boolean", "true or false");
    case "text":
      return must(typeof value === "string", "a string");
    case "regex":
      return must(isRegex(value), REGEX);
    case "uri":
      return must(
        typeof value === "string" &&
          /^[A-Za-z][A-Za-z0-9+.-]*:\S*$/.test(value),
        "a URI",
      );
    case "reference":
      return must(isReference(value), "a URI reference");
    case "id":
      return must(
        isReference(value) && /^[^#]*#?$/.test(value),
        "a URI reference without a fragment",
      );
    case "anchor":
      return must(
        typeof value === "string" && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value),
        "a name of letters, digits, '-', '.' and '_'",
      );
    case "count":
      return must(
        typeof value === "number" && Number.isInteger(value) && value >= 0,
        "a whole number of at least 0",
      );
    case "number":
      return must(typeof value === "number", "a number");
    case "positive":
      return must(typeof value === "number" && value > 0, "a number above 0");
    case "types":
      return must(isTypes(value), "a JSON type, or an array of different ones");
    case "list":
      return must(Array.isArray(value), "an array");
    case "names":
      return must(isNames(value), "an array of different names");
    case "namesMap":
      return isObject(value)
        ? each(value, json_pointer, isNames, "an array of different names")
        : must(false, "an object of arrays of names");
    case "vocabulary":
      return must(
        isObject(value) &&
          Object.values(value).every((item) => typeof item === "boolean"),
        "an object of URIs and booleans",
      );
    case "anything":
      return [];
  }
}

const SCHEMA = "a schema (an object, true or false)";
const REGEX = "a regular expression of ECMA-262";

function each(
  parts: readonly JsonValue[] | JsonObject,
  pointer: string,
  holds: (value: JsonValue) => boolean,
  expected: string,
): Fault[] {
  return Object.entries(parts).flatMap(([key, value = null]) =>
    holds(value) ? [] : [{
      json_pointer: `${pointer}/${escapeToken(key)}`,
      expected,
      actual: value,
    }]
  );
}

function regexKeys(parts: JsonObject, pointer: string): Fault[] {
  return Object.keys(parts).filter((key) => !isRegex(key)).map((key) => ({
    json_pointer: `${pointer}/${escapeToken(key)}`,
    expected: `keyed by ${REGEX}`,
    actual: key,
  }));
}

function isSchema(value: JsonValue): boolean {
  return typeof value === "boolean" || isObject(value);
}

function isNames(value: JsonValue): boolean {
  return Array.isArray(value) &&
    value.every((item) => typeof item === "string") &&
    new Set(value).size === value.length;
}

function isTypes(value: JsonValue): boolean {
  if (!Array.isArray(value)) return TYPES.has(value);
  return value.length > 0 && value.every((item) => TYPES.has(item)) &&
    new Set(value).size === value.length;
}

function isReference(value: JsonValue): value is string {
  return typeof value === "string" && !/[\s<>"{}|\\^`]/.test(value) &&
    !/%(?![0-9A-Fa-f]{2})/.test(value);
}

/** Only its syntax: a stranger's expression is never run. */
function isRegex(value: JsonValue): boolean {
  if (typeof value !== "string") return false;
  try {
    new RegExp(value, "u");
    return true;
  } catch {
    return false;
  }
}

/** `must be a string, not a number`. */
export function metaRequirement(fault: MetaFault): string {
  const { actual, expected } = fault;
  return typeof actual === "string" || typeof actual === "number"
    ? `must be ${expected}`
    : `must be ${expected}, not ${typeInWords(actual)}`;
}
