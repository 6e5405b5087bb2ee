/** Manifests that were valid before something happened to them. */
import fc from "fast-check";
import type { JsonValue } from "../../schema/json.ts";
import type { Bendable } from "./support.ts";
import { complete, minimal } from "./support.ts";

const ODD: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  "",
  "x",
  "a/b~c",
  "__proto__",
  "constructor",
  "x".repeat(600),
  "\u0000\u001b[31m",
  "😀",
  [],
  {},
  [[]],
  [null],
  { "": {} },
  { toString: 1, hasOwnProperty: 2 },
];

const KEYS = ["x", "", "a/b", "m~n", "name", "type", "toString", "$ref", "0"];

/** One to three changes at places anywhere in a valid manifest. */
export function mutatedManifest(): fc.Arbitrary<JsonValue> {
  const change = fc.record({
    place: fc.nat(),
    kind: fc.constantFrom("replace", "remove", "add", "repeat", "swap"),
    value: fc.oneof(
      fc.constantFrom(...ODD),
      fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>,
    ),
    key: fc.constantFrom(...KEYS),
    other: fc.nat(),
  });
  return fc.tuple(
    fc.constantFrom(minimal(), complete()),
    fc.array(change, { minLength: 1, maxLength: 3 }),
  ).map(([text, changes]) => {
    const manifest = JSON.parse(text);
    for (const each of changes) apply(manifest, each);
    return manifest;
  });
}

function apply(
  manifest: Bendable,
  { place, kind, value, key, other }: {
    place: number;
    kind: string;
    value: JsonValue;
    key: string;
    other: number;
  },
): void {
  const places = placesIn(manifest);
  const at = places[place % places.length];
  if (at === undefined) return;
  const { holder, name } = at;
  if (kind === "replace") holder[name] = value;
  else if (kind === "remove") remove(holder, name);
  else if (kind === "swap") {
    const from = places[other % places.length];
    holder[name] = structuredClone(from?.holder[from.name]);
  } else if (Array.isArray(holder[name])) {
    holder[name].push(kind === "repeat" ? holder[name][0] : value);
  } else if (typeof holder[name] === "object" && holder[name] !== null) {
    holder[name][key] = value;
  }
}

interface Place {
  readonly holder: Bendable;
  readonly name: string | number;
}

function placesIn(value: Bendable): Place[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((name) => [
    { holder: value, name },
    ...placesIn(value[name]),
  ]);
}

function remove(holder: Bendable, name: string | number): void {
  if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name];
}
