/** Parts of a value that may be no manifest at all, so that a rule sees only what has the right type. */
import type { JsonObject, JsonValue } from "../json.ts";

/** A part with its pointer. */
export interface Part<Value> {
  readonly value: Value;
  readonly json_pointer: string;
}

/** The value as an object, or an empty one. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as JsonObject
    : {};
}

/** The objects in a list. */
export function objectsIn(
  value: JsonValue | undefined,
  pointer: string,
): Part<JsonObject>[] {
  return itemsIn(value, pointer).filter((part): part is Part<JsonObject> =>
    typeof part.value === "object" && part.value !== null &&
    !Array.isArray(part.value)
  );
}

/** The texts in a list. */
export function textsIn(
  value: JsonValue | undefined,
  pointer: string,
): Part<string>[] {
  return itemsIn(value, pointer).filter((part): part is Part<string> =>
    typeof part.value === "string"
  );
}

function itemsIn(
  value: JsonValue | undefined,
  pointer: string,
): Part<JsonValue>[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly JsonValue[]).map((item, index) => ({
    value: item,
    json_pointer: `${pointer}/${index}`,
  }));
}

/** A text member, or `undefined`. */
export function textOf(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === "string" ? value : undefined;
}

/** The tools' scopes, each with its place. */
export function toolScopes(manifest: JsonObject): Part<string>[] {
  return objectsIn(manifest.tools, "/tools").flatMap((tool) =>
    textsIn(tool.value.scopes, `${tool.json_pointer}/scopes`)
  );
}
