/**
 * The input schemas that nobody can object to, which are most of them: a plain
 * object of typed arguments. A yes is sure; a no only means that every check
 * must look.
 */
import type { JsonObject, JsonValue } from "../json.ts";
import { formOf } from "./keywords.ts";
import { holds } from "./meta_schema.ts";
import { MAX_PATTERN_LENGTH, mayBacktrackForever } from "./patterns.ts";
import { isObject } from "./subschemas.ts";

/** Keywords with a check of their own beside the meta-schema. */
const SPECIAL: ReadonlySet<string> = new Set([
  "$schema",
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "$defs",
  "definitions",
  "anyOf",
  "oneOf",
  "allOf",
  "nullable",
  "patternProperties",
]);

/** Whether the schema of a tool's arguments has nothing to report. */
export function isPlain(schema: JsonObject): boolean {
  return schema.type === "object" && isObject(schema.properties) &&
    isPlainPart(schema);
}

function isPlainPart(schema: JsonObject): boolean {
  if (schema.type === "array" && schema.items === undefined) return false;
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword] ?? null;
    const form = formOf(keyword);
    if (form === undefined || SPECIAL.has(keyword)) return false;
    if (!holds(form, value)) return false;
    switch (form) {
      case "regex":
        if (!isHarmless(value as string)) return false;
        break;
      case "schema":
        if (isObject(value) && !isPlainPart(value)) return false;
        break;
      case "schemas":
        if (!(value as JsonValue[]).every(isPlainSchema)) return false;
        break;
      case "schemaMap":
        if (!areArguments(value as JsonObject)) return false;
        break;
      case "schemaOrNames":
        return false;
    }
  }
  return true;
}

function areArguments(properties: JsonObject): boolean {
  for (const name of Object.keys(properties)) {
    const property = properties[name];
    if (!isObject(property) || property.type === undefined) return false;
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) return false;
    if (!isPlainPart(property)) return false;
  }
  return true;
}

function isPlainSchema(value: JsonValue): boolean {
  return !isObject(value) || isPlainPart(value);
}

function isHarmless(pattern: string): boolean {
  return pattern.length <= MAX_PATTERN_LENGTH && !mayBacktrackForever(pattern);
}
