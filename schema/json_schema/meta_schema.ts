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
  const faults: MetaFault[] = [];
  for (const keyword of Object.keys(schema)) {
    const form = formOf(keyword);
    const value = schema[keyword] ?? null;
    if (form === undefined || HOLDS[form](value)) continue;
    const at = `${pointer}/${escapeToken(keyword)}`;
    faults.push(...explain(form, value, at, keyword));
  }
  return faults;
}

/** Whether a keyword of this form may have this value. */
export function holds(form: KeywordForm, value: JsonValue): boolean {
  return HOLDS[form](value);
}

const HOLDS: Readonly<Record<KeywordForm, (value: JsonValue) => boolean>> = {
  schema: isSchema,
  schemas: (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isSchema),
  schemaMap: (value) => isObject(value) && allOf(value, isSchema),
  schemaOrNames: (value) => isObject(value) && allOf(value, isSchemaOrNames),
  regexMap: (value) =>
    isObject(value) && allOf(value, isSchema) &&
    Object.keys(value).every(isRegex),
  boolean: (value) => typeof value === "boolean",
  text: (value) => typeof value === "string",
  regex: isRegex,
  uri: (value) =>
    typeof value === "string" && /^[A-Za-z][A-Za-z0-9+.-]*:\S*$/.test(value),
  reference: isReference,
  id: (value) => isReference(value) && /^[^#]*#?$/.test(value),
  anchor: (value) =>
    typeof value === "string" && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value),
  count: (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= 0,
  number: (value) => typeof value === "number",
  positive: (value) => typeof value === "number" && value > 0,
  types: isTypes,
  list: Array.isArray,
  names: isNames,
  namesMap: (value) => isObject(value) && allOf(value, isNames),
  vocabulary: (value) =>
    isObject(value) && allOf(value, (item) => typeof item === "boolean"),
  anything: () => true,
};

const SCHEMA = "a schema (an object, true or false)";
const NAMES = "an array of different names";
const REGEX = "a regular expression of ECMA-262";

const EXPECTED: Readonly<Record<KeywordForm, string>> = {
  schema: SCHEMA,
  schemas: "an array of at least one schema",
  schemaMap: "an object of schemas",
  schemaOrNames: "an object of schemas or names",
  regexMap: "an object of schemas",
  boolean: "true or false",
  text: "a string",
  regex: REGEX,
  uri: "a URI",
  reference: "a URI reference",
  id: "a URI reference without a fragment",
  anchor: "a name of letters, digits, '-', '.' and '_'",
  count: "a whole number of at least 0",
  number: "a number",
  positive: "a number above 0",
  types: "a JSON type, or an array of different ones",
  list: "an array",
  names: NAMES,
  namesMap: "an object of arrays of names",
  vocabulary: "an object of URIs and booleans",
  anything: "anything",
};

/** For keywords that hold several parts: what each must be. */
const PARTS: Partial<
  Record<KeywordForm, readonly [(value: JsonValue) => boolean, string]>
> = {
  schemas: [isSchema, SCHEMA],
  schemaMap: [isSchema, SCHEMA],
  schemaOrNames: [isSchemaOrNames, `${SCHEMA}, or ${NAMES}`],
  regexMap: [isSchema, SCHEMA],
  namesMap: [isNames, NAMES],
};

/** Faults of the parts, or of the whole where it is none of parts. */
function explain(
  form: KeywordForm,
  value: JsonValue,
  json_pointer: string,
  keyword: string,
): MetaFault[] {
  const whole = {
    json_pointer,
    expected: EXPECTED[form],
    actual: value,
    keyword,
  };
  const [holds, expected] = PARTS[form] ?? [];
  if (holds === undefined || expected === undefined) return [whole];
  if (typeof value !== "object" || value === null) return [whole];
  if (Array.isArray(value) !== (form === "schemas")) return [whole];
  const parts = Object.entries(value).flatMap(([key, actual = null]) => {
    const at = `${json_pointer}/${escapeToken(key)}`;
    if (!holds(actual)) {
      return [{ json_pointer: at, expected, actual, keyword }];
    }
    return form !== "regexMap" || isRegex(key) ? [] : [{
      json_pointer: at,
      expected: `keyed by ${REGEX}`,
      actual: key,
      keyword,
    }];
  });
  return parts.length === 0 ? [whole] : parts;
}

function allOf(
  parts: JsonObject,
  holds: (value: JsonValue) => boolean,
): boolean {
  for (const key of Object.keys(parts)) {
    if (!holds(parts[key] ?? null)) return false;
  }
  return true;
}

function isSchemaOrNames(value: JsonValue): boolean {
  return isSchema(value) || isNames(value);
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
