/** All schemas within a schema. */
import type { JsonObject, JsonValue } from "../json.ts";
import { escapeToken } from "../json_pointer.ts";
import { formOf } from "./keywords.ts";

/** A schema object with its place. */
export interface Subschema {
  readonly schema: JsonObject;
  readonly json_pointer: string;
  /** The keyword that it stands under; `""` for the root. */
  readonly under: string;
}

/** The schema objects in the value, the root first, in document order. Booleans are left out. */
export function subschemas(root: JsonValue, pointer: string): Subschema[] {
  const found: Subschema[] = [];
  collect(root, pointer, "", found);
  return found;
}

function collect(
  value: JsonValue | undefined,
  json_pointer: string,
  under: string,
  found: Subschema[],
): void {
  if (!isObject(value)) return;
  found.push({ schema: value, json_pointer, under });
  for (const [keyword, part] of Object.entries(value)) {
    const at = `${json_pointer}/${escapeToken(keyword)}`;
    switch (formOf(keyword)) {
      case "schema":
        collect(part, at, keyword, found);
        break;
      case "schemas":
        if (!Array.isArray(part)) break;
        part.forEach((item, index) =>
          collect(item, `${at}/${index}`, keyword, found)
        );
        break;
      case "schemaMap":
      case "regexMap":
      case "schemaOrNames":
        if (!isObject(part)) break;
        for (const [name, item] of Object.entries(part)) {
          collect(item, `${at}/${escapeToken(name)}`, keyword, found);
        }
    }
  }
}

/** Whether the value is a JSON object. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
