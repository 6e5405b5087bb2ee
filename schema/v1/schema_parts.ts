/** Parts of `manifest.schema.json` by their place in a manifest. */
import type { JsonObject } from "../json.ts";
import { fromPointer } from "../json_pointer.ts";
import manifestSchema from "../manifest.schema.json" with { type: "json" };

/** The lists of objects, with the definition of their items. */
export const LISTS: Readonly<Record<string, string>> = {
  authors: "author",
  tools: "tool",
  commands: "command",
  skills: "skill",
};

/** The members that the schema names at a place. */
export function knownMembers(pointer: string): string[] {
  const { properties, $defs } = manifestSchema as unknown as Record<
    "properties" | "$defs",
    Record<string, JsonObject>
  >;
  const [top, ...below] = fromPointer(pointer) ?? [];
  if (top === undefined) return Object.keys(properties);
  let schema = Object.hasOwn(LISTS, top)
    ? $defs[LISTS[top] as string]
    : properties[top];
  for (const token of Object.hasOwn(LISTS, top) ? below.slice(1) : below) {
    schema = (schema?.properties as Record<string, JsonObject> | undefined)
      ?.[token];
  }
  return Object.keys(schema?.properties ?? {});
}
