/** The quick ways must never say yes where the thorough ones object. */
import { Validator } from "@cfworker/json-schema";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { formOf } from "../../schema/json_schema/keywords.ts";
import { isPlain } from "../../schema/json_schema/plain.ts";
import { compileQuick } from "../../schema/json_schema/quick.ts";
import { isObject, subschemas } from "../../schema/json_schema/subschemas.ts";
import manifestSchema from "../../schema/manifest.schema.json" with {
  type: "json",
};
import { certify } from "../../schema/strict_json/certify.ts";
import { JsonDocument } from "../../schema/strict_json/document.ts";
import {
  MANIFEST_LIMITS,
  parseStrictJson,
} from "../../schema/strict_json/mod.ts";
import type { Bendable } from "./support.ts";
import { complete, minimal, warningsOf } from "./support.ts";
import { mutatedManifest } from "./mutations.ts";

const schema = manifestSchema as unknown as JsonObject;

Deno.test("compileQuick() says yes only to manifests that are valid", () => {
  const quick = compileQuick(schema);
  const thorough = new Validator(
    structuredClone(schema) as Bendable,
    "2020-12",
  );
  assert.ok(quick(JSON.parse(minimal())), "else it would be no use");
  assert.ok(quick(JSON.parse(complete())));
  fc.assert(
    fc.property(mutatedManifest(), (manifest) => {
      if (quick(manifest)) assert.ok(thorough.validate(manifest).valid);
    }),
    { seed: 4, numRuns: 1500 },
  );
});

Deno.test("compileQuick() leaves to the library what it does not know", () => {
  assert.equal(compileQuick({ maxProperties: 5 })({}), false);
  assert.equal(
    compileQuick({ additionalProperties: { type: "string" } })({}),
    false,
  );
  assert.equal(compileQuick({ $ref: "#/$defs/none" })({}), false);
  assert.equal(compileQuick({ format: "idn-email" })("a"), false);
  assert.equal(compileQuick({ type: ["string", "null"] })("a"), false);
  assert.equal(compileQuick({ minLength: 2 })("😀"), false);
  assert.equal(compileQuick({ minLength: 2 })("😀😀"), true);
});

Deno.test("VAL-05 the schema uses only what is really asserted", () => {
  const known = new Set([
    "$schema",
    "$id",
    "$ref",
    "$defs",
    "title",
    "description",
    "default",
    "examples",
    "type",
    "const",
    "enum",
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "uniqueItems",
    "items",
    "required",
    "properties",
    "additionalProperties",
  ]);
  const formats = new Set<unknown>();
  for (const part of subschemas(schema, "")) {
    for (const keyword of Object.keys(part.schema)) {
      assert.ok(known.has(keyword), `${part.json_pointer}/${keyword}`);
      assert.notEqual(formOf(keyword), undefined);
    }
    if (part.schema.format !== undefined) formats.add(part.schema.format);
  }
  // Each has cases of its own under VAL-05.
  assert.deepEqual([...formats].sort(), ["email", "uri"]);
});

Deno.test("isPlain() says yes only to input schemas without a finding", async () => {
  const leaf = fc.record({
    type: fc.constantFrom<JsonValue>(
      "string",
      "integer",
      "array",
      "strnig",
      5,
      [
        "string",
        "null",
      ],
    ),
    pattern: fc.constantFrom<JsonValue>(
      "^a$",
      "(a+)+",
      "(",
      "^[a-z]+(-[a-z]+)*$",
    ),
    items: fc.constantFrom<JsonValue>({ type: "string" }, {}, [], true),
    enum: fc.constantFrom<JsonValue>(["a"], "a"),
    minLength: fc.constantFrom<JsonValue>(0, -1),
    nullable: fc.constant<JsonValue>(true),
    minlength: fc.constant<JsonValue>(1),
    anyOf: fc.constant<JsonValue>([{ type: "string" }]),
    not: fc.constantFrom<JsonValue>({ type: "string" }, { type: "array" }),
    $ref: fc.constantFrom<JsonValue>("#", "https://example.com/"),
  }, { requiredKeys: [] });
  const input = fc.record({
    type: fc.constant<JsonValue>("object"),
    properties: fc.dictionary(
      fc.constantFrom("a", "b", "ä"),
      leaf as fc.Arbitrary<JsonValue>,
      { maxKeys: 2 },
    ),
  });
  const seen = { plain: 0 };
  await fc.assert(
    fc.asyncProperty(input, async (input_schema) => {
      if (!isPlain(input_schema as JsonObject)) return;
      seen.plain++;
      const text = minimal((m) => {
        m.tools[0].input_schema = input_schema;
        m.targets = ["claude-code", "cursor"];
      });
      const found = (await warningsOf(text)).filter(({ json_pointer }) =>
        json_pointer.startsWith("/tools/0/input_schema")
      );
      assert.deepEqual(found, []);
    }),
    { seed: 8, numRuns: 1500 },
  );
  assert.ok(seen.plain > 100, String(seen.plain));
});

Deno.test("certify() says yes only to texts without a fault, and with the same value", () => {
  const fragments = [
    ...'{}[]:," \n1-.eE\\',
    '"a"',
    '"a":',
    '"__proto__":',
    "true",
    "null",
    "9007199254740993",
    "1.0000000000000001",
    "1e400",
    "1.0",
    "-0",
    "\\u0061",
    "\\ud800",
    "\\n",
    "é",
    "\ufeff",
    "//x\n",
    "\t",
  ];
  const seen = { certified: 0 };
  const check = (text: string): void => {
    const value = certify(text, MANIFEST_LIMITS);
    if (value === undefined) return;
    seen.certified++;
    const document = parseStrictJson(text);
    assert.deepEqual(document.faults, []);
    assert.deepEqual(value, slow(text).value);
    assert.deepEqual(slow(text).faults, []);
  };
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...fragments), { maxLength: 12 }),
      (parts) => check(parts.join("")),
    ),
    { seed: 5, numRuns: 20_000 },
  );
  fc.assert(
    fc.property(fc.json(), fc.nat(2), (text, indent) => {
      check(JSON.stringify(JSON.parse(text), null, indent));
    }),
    { seed: 6, numRuns: 500 },
  );
  assert.ok(seen.certified > 300, String(seen.certified));
});

/** The text as the parser with places reads it. */
function slow(text: string): { value: unknown; faults: unknown } {
  // A comment keeps the quick way out, and is itself one known fault.
  const { value, faults } = parseStrictJson(`${text}\n//`);
  return {
    value,
    faults: faults.filter(({ constraint }) => constraint !== "comment"),
  };
}

Deno.test("certify() leaves to the parser what may have a fault", () => {
  for (
    const text of [
      '{"a":1,"a":1}',
      '{"a":{"b":1,"b":2}}',
      '{"na\\u006de":1,"name":2}',
      '{"__proto__":1}',
      '{"\\u005f_proto__":1}',
      "[9007199254740993]",
      "[1e400]",
      '["\\ud800"]',
      "[1,]",
      "\ufeff1",
      "[".repeat(65) + "]".repeat(65),
      `[${"1,".repeat(10_000)}1]`,
    ]
  ) {
    assert.equal(certify(text, MANIFEST_LIMITS), undefined, text.slice(0, 40));
    assert.ok(parseStrictJson(text).faults.length > 0, text.slice(0, 40));
  }
  assert.ok(new JsonDocument("", { faults: [] }).value === undefined);
  assert.ok(
    isObject(certify('{"a": [1, "\\u00e9"]}', MANIFEST_LIMITS) as JsonValue),
  );
});
