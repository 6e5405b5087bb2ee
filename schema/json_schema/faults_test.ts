import type { Schema } from "@cfworker/json-schema";
import { Validator } from "@cfworker/json-schema";
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../json.ts";
import { decodeLocation, toFaults } from "./faults.ts";

function faultsOf(schema: JsonObject, instance: JsonValue): string[] {
  const validator = new Validator(
    structuredClone(schema) as Schema,
    "2020-12",
    false,
  );
  return toFaults(validator.validate(instance).errors, schema, instance, 100)
    .map(({ json_pointer, constraint }) => `${json_pointer} ${constraint}`);
}

const text = { type: "string" };
const number = { type: "number" };

Deno.test("toFaults() leaves out what only says that something below failed", () => {
  assert.deepEqual(
    faultsOf({
      properties: {
        a: { items: { $ref: "#/$defs/t" } },
        b: { prefixItems: [text] },
      },
      patternProperties: { "^c": { allOf: [text] } },
      additionalProperties: { if: true, then: text },
      $defs: { t: text },
    }, { a: ["x", 1], b: [1], c: 1, d: 1 }),
    ["/a/1 type", "/b/0 type", "/c type", "/d type"],
  );
});

Deno.test("toFaults() gives one fault for branches that all failed", () => {
  assert.deepEqual(faultsOf({ anyOf: [text, number] }, true), [" anyOf"]);
  assert.deepEqual(faultsOf({ oneOf: [text, text] }, "x"), [" oneOf"]);
  assert.deepEqual(faultsOf({ not: text }, "x"), [" not"]);
  assert.deepEqual(faultsOf({ contains: text }, [1, 2]), [" contains"]);
  assert.deepEqual(
    faultsOf({
      properties: {
        a: {
          anyOf: [
            { properties: { b: text }, additionalProperties: false },
            { required: ["z"] },
          ],
        },
        c: text,
      },
    }, { a: { b: 1, x: 1 }, c: 1 }),
    ["/a anyOf", "/c type"],
  );
  assert.deepEqual(faultsOf({ propertyNames: { maxLength: 1 } }, { ab: 1 }), [
    " propertyNames",
  ]);
});

Deno.test("toFaults() names missing and unknown members by their own pointers", () => {
  assert.deepEqual(
    faultsOf({
      required: ["a/b", "c", "d"],
      properties: { c: text },
      additionalProperties: false,
    }, { c: "x", "é %": 1, "m~n": 2 }),
    [
      "/a~1b required",
      "/d required",
      "/é % additionalProperties",
      "/m~0n additionalProperties",
    ],
  );
  assert.deepEqual(
    faultsOf({ allOf: [{ required: ["a"] }], unevaluatedProperties: false }, {
      b: 1,
    }),
    ["/a required", "/b unevaluatedProperties"],
  );
});

Deno.test("toFaults() keeps the first of two faults at one place", () => {
  assert.deepEqual(
    faultsOf({ type: "string", const: "x" }, 5),
    [" type"],
  );
});

Deno.test("decodeLocation() gives plain pointers", () => {
  assert.equal(decodeLocation("#"), "");
  assert.equal(
    decodeLocation("#/a~1b/c%20d/%C3%A9/%23/%25"),
    "/a~1b/c d/é/#/%",
  );
});
