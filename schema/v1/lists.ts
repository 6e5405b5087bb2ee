/** Repetitions and unknown members in lists. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { escapeToken } from "../json_pointer.ts";
import { nearest } from "../nearest.ts";
import type { Part } from "./parts.ts";
import { objectOf, objectsIn, textOf, textsIn } from "./parts.ts";
import { knownMembers } from "./schema_parts.ts";

/** `uniqueItems` of the schema, in linear time, at the item that repeats. */
export function checkRepetitions(
  manifest: JsonObject,
  faults: FaultCollector,
): void {
  const lists: readonly [JsonValue | undefined, string][] = [
    [objectOf(manifest.auth).scopes, "/auth/scopes"],
    [objectOf(manifest.audit).kinds, "/audit/kinds"],
    [manifest.targets, "/targets"],
    ...objectsIn(manifest.tools, "/tools").map((
      { value, json_pointer },
    ): [JsonValue | undefined, string] => [
      value.scopes,
      `${json_pointer}/scopes`,
    ]),
  ];
  for (const [list, pointer] of lists) {
    reportRepeated(textsIn(list, pointer), "uniqueItems", faults);
  }
  for (const [list, member] of NAMED) {
    const names = objectsIn(manifest[list], `/${list}`).flatMap((part) => {
      const value = textOf(part.value, member);
      return value === undefined
        ? []
        : [{ value, json_pointer: `${part.json_pointer}/${member}` }];
    });
    reportRepeated(names, "unique_name", faults);
  }
}

const NAMED = [
  ["commands", "name"],
  ["commands", "file"],
  ["skills", "id"],
  ["skills", "path"],
] as const;

function reportRepeated(
  items: readonly Part<string>[],
  constraint: string,
  faults: FaultCollector,
): void {
  const seen = new Map<string, string>();
  for (const { value, json_pointer } of items) {
    const first = seen.get(value);
    if (first === undefined) {
      seen.set(value, json_pointer);
      continue;
    }
    faults.add({
      json_pointer,
      constraint,
      actual: value,
      message: `'${value.slice(0, 100)}' is already at ${first}`,
      hint: per(1, "Keep one of the two"),
    });
  }
}

/**
 * Members that the schema does not name where it is open: hosts ignore them,
 * and most are slips of the pen.
 */
export function checkOpenMembers(
  manifest: JsonObject,
  faults: FaultCollector,
): void {
  const parts = [
    ...["authors", "commands", "skills"].flatMap((list) =>
      objectsIn(manifest[list], `/${list}`)
    ),
    ...objectsIn(manifest.tools, "/tools").map(({ value, json_pointer }) => ({
      value: objectOf(value.annotations),
      json_pointer: `${json_pointer}/annotations`,
    })),
  ];
  for (const { value, json_pointer } of parts) {
    const keys = Object.keys(value);
    const known = keys.length === 0 ? [] : knownMembers(json_pointer);
    for (const key of keys) {
      if (known.includes(key)) continue;
      const meant = nearest(key, known);
      faults.add({
        json_pointer: `${json_pointer}/${escapeToken(key)}`,
        constraint: "unknown_member",
        expected: known,
        message: `Unknown property '${key.slice(0, 100)}'${
          meant === undefined ? "" : `; did you mean '${meant}'?`
        }`,
        hint: per(12, "Remove it; nothing reads it"),
        severity: "warning",
        atKey: true,
      });
      if (faults.full) return;
    }
  }
}
