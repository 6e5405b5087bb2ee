/** From `@cfworker/json-schema`'s output units to one fault per place. */
import type { OutputUnit } from "@cfworker/json-schema";
import type { JsonObject, JsonValue } from "../json.ts";
import { escapeToken, fromPointer, resolvePointer } from "../json_pointer.ts";

/** One keyword that failed at one place. */
export interface SchemaFault {
  /** RFC 6901; a missing property points where it should be. */
  readonly json_pointer: string;
  /** The keyword. */
  readonly constraint: string;
  /** The keyword's value in the schema. */
  readonly expected?: JsonValue;
  /** The instance at the pointer, where there is one. */
  readonly actual?: JsonValue;
}

/** Units that only say that something below them failed. */
const WRAPPERS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "$ref",
  "allOf",
  "if",
  "dependentSchemas",
]);

/** Units whose branches failed for reasons that are no fault by themselves. */
const BRANCHES: ReadonlySet<string> = new Set([
  "anyOf",
  "oneOf",
  "not",
  "contains",
  "propertyNames",
]);

/** The pointer in a location of the library's: `#/a%20b` → `/a b`. */
export function decodeLocation(location: string): string {
  return decodeURIComponent(location.slice(1));
}

/**
 * The first faults behind the units, in the library's order, without its
 * wrappers: one per place, except that every missing or unknown property is a
 * place of its own.
 */
export function toFaults(
  units: readonly OutputUnit[],
  schema: JsonObject,
  instance: JsonValue,
  max: number,
): SchemaFault[] {
  const faults = new Map<string, SchemaFault>();
  const add = (fault: SchemaFault): void => {
    if (!faults.has(fault.json_pointer)) faults.set(fault.json_pointer, fault);
  };
  let wrapper = "";
  let branch = "";
  for (const unit of units) {
    if (faults.size >= max) break;
    if (unit.keyword === "false") {
      // Without a wrapper of its own the unit stands in a skipped branch.
      if (wrapper !== "") add(unknownMember(unit, wrapper, instance));
      wrapper = "";
      continue;
    }
    wrapper = "";
    if (branch !== "" && unit.keywordLocation.startsWith(branch)) continue;
    branch = "";
    if (WRAPPERS.has(unit.keyword)) wrapper = unit.keyword;
    else if (unit.keyword === "required") {
      for (const fault of missing(unit, schema, instance)) add(fault);
    } else {
      if (BRANCHES.has(unit.keyword)) branch = `${unit.keywordLocation}/`;
      add(leaf(unit, schema, instance));
    }
  }
  return [...faults.values()].slice(0, max);
}

function unknownMember(
  unit: OutputUnit,
  wrapper: string,
  instance: JsonValue,
): SchemaFault {
  const json_pointer = decodeLocation(unit.instanceLocation);
  return {
    json_pointer,
    constraint: wrapper,
    expected: false,
    actual: resolvePointer(instance, json_pointer),
  };
}

function leaf(
  unit: OutputUnit,
  schema: JsonObject,
  instance: JsonValue,
): SchemaFault {
  const json_pointer = decodeLocation(unit.instanceLocation);
  const keyword = schemaAt(schema, decodeLocation(unit.keywordLocation));
  return {
    json_pointer,
    constraint: unit.keyword,
    ...(keyword === undefined ? {} : { expected: keyword }),
    actual: resolvePointer(instance, json_pointer),
  };
}

/** The library has a unit for each missing property but says its name in prose only. */
function missing(
  unit: OutputUnit,
  schema: JsonObject,
  instance: JsonValue,
): SchemaFault[] {
  const parent = decodeLocation(unit.instanceLocation);
  const object = resolvePointer(instance, parent);
  const names = schemaAt(schema, decodeLocation(unit.keywordLocation));
  if (!Array.isArray(names)) return [];
  return names
    .filter((name) => !Object.hasOwn(object as object, String(name)))
    .map((name) => ({
      json_pointer: `${parent}/${escapeToken(String(name))}`,
      constraint: "required",
    }));
}

/** Follows a keyword location, through local `$ref`s, to the keyword's value. */
function schemaAt(
  schema: JsonObject,
  keywordLocation: string,
): JsonValue | undefined {
  let at: JsonValue | undefined = schema;
  for (const token of fromPointer(keywordLocation) ?? []) {
    if (typeof at !== "object" || at === null) return undefined;
    const next: JsonValue | undefined = resolvePointer(
      at,
      `/${escapeToken(token)}`,
    );
    at = token === "$ref" && typeof next === "string"
      ? resolvePointer(schema, next.slice(1))
      : next;
  }
  return at;
}
