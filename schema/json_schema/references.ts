/** Whether a schema's references stay within it and end somewhere. */
import type { JsonObject, JsonValue } from "../json.ts";
import { resolvePointer } from "../json_pointer.ts";
import type { Subschema } from "./subschemas.ts";

/** A reference that cannot be followed. */
export interface ReferenceFault {
  readonly json_pointer: string;
  readonly reference: string;
  readonly problem: "remote" | "unresolved" | "circular";
}

const KEYWORDS = ["$ref", "$dynamicRef", "$recursiveRef"] as const;

/** Judges every reference in a schema by itself; nothing is ever fetched. */
export function referenceFaults(
  root: JsonValue,
  parts: readonly Subschema[],
): ReferenceFault[] {
  const anchors = findAnchors(parts);
  const targetOf = (reference: string): JsonValue | undefined => {
    const fragment = decodeFragment(reference);
    return fragment === "" || fragment.startsWith("/")
      ? resolvePointer(root, fragment)
      : anchors.get(fragment);
  };
  const endless = findEndless(parts, targetOf);
  return parts.flatMap(({ schema, json_pointer }) =>
    KEYWORDS.flatMap((keyword) => {
      const reference = schema[keyword];
      if (typeof reference !== "string") return [];
      const problem = !reference.startsWith("#")
        ? "remote"
        : !isSchema(targetOf(reference))
        ? "unresolved"
        : keyword === "$ref" && endless.has(schema)
        ? "circular"
        : undefined;
      return problem === undefined
        ? []
        : [{ json_pointer: `${json_pointer}/${keyword}`, reference, problem }];
    })
  );
}

function findAnchors(parts: readonly Subschema[]): Map<string, JsonObject> {
  const anchors = new Map<string, JsonObject>();
  for (const { schema } of parts) {
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const name = schema[keyword];
      if (typeof name === "string") anchors.set(name, schema);
    }
  }
  return anchors;
}

/**
 * Schemas whose `$ref` leads, by `$ref`s alone, back to one of them: no
 * validator can end that. Each chain is walked once.
 */
function findEndless(
  parts: readonly Subschema[],
  targetOf: (reference: string) => JsonValue | undefined,
): ReadonlySet<JsonValue> {
  const endless = new Set<JsonValue>();
  const settled = new Set<JsonValue>();
  for (const { schema } of parts) {
    const chain: JsonValue[] = [];
    const onChain = new Set<JsonValue>();
    let at: JsonValue | undefined = schema;
    while (isObject(at) && !settled.has(at) && !onChain.has(at)) {
      chain.push(at);
      onChain.add(at);
      const reference: JsonValue | undefined = at.$ref;
      at = typeof reference === "string" && reference.startsWith("#")
        ? targetOf(reference)
        : undefined;
    }
    const loops = at !== undefined && (onChain.has(at) || endless.has(at));
    for (const link of chain) {
      settled.add(link);
      if (loops) endless.add(link);
    }
  }
  return endless;
}

function decodeFragment(reference: string): string {
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return "\0";
  }
}

function isSchema(value: JsonValue | undefined): boolean {
  return typeof value === "boolean" || isObject(value);
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
