/** The tools' input schemas: valid, self-contained, harmless, as hosts take them. */
import { Validator } from "@cfworker/json-schema";
import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { KEYWORDS } from "../../schema/json_schema/keywords.ts";
import { metaFaults } from "../../schema/json_schema/meta_schema.ts";
import { mayBacktrackForever } from "../../schema/json_schema/patterns.ts";
import { isPlain } from "../../schema/json_schema/plain.ts";
import { subschemas } from "../../schema/json_schema/subschemas.ts";
import { TOOLS } from "../../schema/tools.ts";
import { validateManifest } from "../../schema/validate.ts";
import type { Bendable } from "./support.ts";
import { brief, errorsOf, minimal, warningsOf } from "./support.ts";

const POINTER = "/tools/0/input_schema";

function withSchema(schema: JsonValue, targets = ["claude-code"]): string {
  return minimal((m) => {
    m.tools[0].input_schema = schema;
    m.targets = targets;
  });
}

function withProperty(property: JsonValue, targets?: string[]): string {
  return withSchema(
    { type: "object", properties: { a: property } },
    targets,
  );
}

async function hostWarnings(text: string): Promise<string[]> {
  return brief(await warningsOf(text))
    .filter((warning) => warning.endsWith(" host_form"))
    .map((warning) => warning.slice(POINTER.length).replace(" host_form", ""));
}

Deno.test("an input schema that is no schema is an error at its keyword", async () => {
  const wrong: [JsonValue, string][] = [
    [{ type: "strnig" }, "/properties/a/type"],
    [{ type: [] }, "/properties/a/type"],
    [{ type: "string", minLength: -1 }, "/properties/a/minLength"],
    [{ type: "string", minLength: 1.5 }, "/properties/a/minLength"],
    [{ type: "string", pattern: "(" }, "/properties/a/pattern"],
    [{ type: "string", enum: "a" }, "/properties/a/enum"],
    [{ type: "number", multipleOf: 0 }, "/properties/a/multipleOf"],
    [{ type: "array", items: [] }, "/properties/a/items"],
    [{ type: "object", required: ["x", "x"] }, "/properties/a/required"],
    [{ type: "object", required: "x" }, "/properties/a/required"],
    [
      { type: "object", properties: { "x/y": 5 } },
      "/properties/a/properties/x~1y",
    ],
    [{ type: "string", description: 5 }, "/properties/a/description"],
    ["string", "/properties/a"],
  ];
  for (const [property, at] of wrong) {
    assert.deepEqual(brief(await errorsOf(withProperty(property))), [
      `${POINTER}${at} json_schema`,
    ]);
  }
  assert.deepEqual(await errorsOf(withProperty({ type: "string" })), []);
});

Deno.test("the top of an input schema is an object in 2020-12", async () => {
  assert.deepEqual(brief(await errorsOf(withSchema({}))), [
    `${POINTER}/type required`,
  ]);
  assert.deepEqual(
    brief(await errorsOf(withSchema({ type: "array", items: {} }))),
    [`${POINTER}/type const`],
  );
  assert.deepEqual(
    brief(
      await errorsOf(withSchema({
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        properties: {},
      })),
    ),
    [`${POINTER}/$schema dialect`],
  );
});

Deno.test("references stay within the input schema and end somewhere", async () => {
  const refused: Record<string, JsonValue> = {
    "https://example.com/schema.json": {},
    "other.json": {},
    "file:///etc/passwd": {},
    "#/$defs/none": {},
    "#nowhere": {},
    "#/$defs/%": {},
    "#/$defs/loop": {
      loop: { $ref: "#/$defs/back" },
      back: { $ref: "#/$defs/loop" },
    },
    "#/properties/a": {},
  };
  for (const [$ref, $defs] of Object.entries(refused)) {
    const text = withSchema({
      type: "object",
      properties: { a: { $ref } },
      $defs,
    });
    const errors = await errorsOf(text);
    assert.ok(
      brief(errors).includes(`${POINTER}/properties/a/$ref self_contained`),
      $ref,
    );
    const remote = !$ref.startsWith("#");
    assert.equal(
      errors.some(({ message }) => / leads out of /.test(message)),
      remote,
      $ref,
    );
  }
  const fine = withSchema({
    type: "object",
    properties: {
      a: { $ref: "#/$defs/node" },
      b: { $ref: "#named" },
      c: { $ref: "#" },
    },
    $defs: {
      node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } },
      other: { $anchor: "named", type: "string" },
    },
  });
  assert.deepEqual(await errorsOf(fine), []);
});

Deno.test("ADP-03 constructs that hosts refuse are warnings", async () => {
  const object = { type: "object", properties: {} };
  assert.deepEqual(await hostWarnings(withSchema({ type: "object" })), [""]);
  for (const keyword of ["anyOf", "oneOf", "allOf"]) {
    assert.deepEqual(
      await hostWarnings(withSchema({ ...object, [keyword]: [object] })),
      [`/${keyword}`],
    );
  }
  const nested = { anyOf: [{ type: "string" }, { type: "integer" }] };
  assert.deepEqual(await hostWarnings(withProperty(nested)), []);
  assert.deepEqual(
    await hostWarnings(withProperty(nested, ["claude-code", "cursor"])),
    ["/properties/a/anyOf"],
  );
  assert.deepEqual(await hostWarnings(withProperty({})), ["/properties/a"]);
  assert.deepEqual(await hostWarnings(withProperty(true)), ["/properties/a"]);
  assert.deepEqual(await hostWarnings(withProperty({ type: "array" })), [
    "/properties/a",
  ]);
  assert.deepEqual(
    await hostWarnings(withProperty({ type: "string", nullable: true })),
    ["/properties/a/nullable"],
  );
  assert.deepEqual(
    await hostWarnings(withSchema({
      ...object,
      properties: {
        "ä b": { type: "string" },
        ["x".repeat(65)]: { type: "string" },
      },
    })),
    ["/properties/ä b", `/properties/${"x".repeat(65)}`],
  );
  assert.deepEqual(
    await hostWarnings(withSchema({
      ...object,
      $defs: { x: { type: "string" } },
      properties: { x: { $ref: "#/$defs/x" } },
    })),
    ["/properties/x/$ref", "/$defs"],
  );
});

Deno.test("ADP-03 our own eight tools are plain for every host", () => {
  for (const { name, inputSchema } of TOOLS) {
    assert.ok(isPlain(inputSchema), name);
  }
});

Deno.test("a misspelled keyword is a warning that says what was meant", async () => {
  const text = withProperty({ type: "string", maxLenght: 5, "x-order": 1 });
  const warnings = (await warningsOf(text)).filter(({ constraint }) =>
    constraint === "unknown_keyword"
  );
  assert.deepEqual(brief(warnings), [
    `${POINTER}/properties/a/maxLenght unknown_keyword`,
  ]);
  assert.match(warnings[0]?.message ?? "", /did you mean 'maxLength'\?/);
});

Deno.test("patterns that may take for ever are told from those that only look so", async () => {
  const dangerous = [
    "^(a+)+$",
    "(a*)*",
    "([a-z]+)*$",
    "^(\\w+\\s?)+$",
    "(?:a+b*)+",
    "((a+))+",
    "(.*)*",
    "(a+){2,}",
    "(?<name>a+)+",
    "([^)]+)*",
    "([\\])]+)+",
  ];
  const fine = [
    "^[a-z]+(-[a-z]+)*$",
    "^([a-z]+\\.)+[a-z]+$",
    "^(a|b)+$",
    "(abc)*",
    "(a+)?",
    "^\\(+$",
    "[(+)+]+",
    "(a+){2}",
    "",
    "(",
    "a{,}",
    "[",
    "\\",
  ];
  for (const pattern of dangerous) {
    assert.ok(mayBacktrackForever(pattern), pattern);
  }
  for (const pattern of fine) assert.ok(!mayBacktrackForever(pattern), pattern);
  const warned = brief(
    await warningsOf(withProperty({ type: "string", pattern: "^(a+)+$" })),
  );
  assert.ok(warned.includes(`${POINTER}/properties/a/pattern pattern_time`));
  const long = withProperty({ type: "string", pattern: "a".repeat(1001) });
  assert.deepEqual(brief(await errorsOf(long)), [
    `${POINTER}/properties/a/pattern pattern_length`,
  ]);
});

Deno.test("hostile input schemas end within a second", async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 5000 }, (_, i) => [
      `d${i}`,
      { $ref: `#/$defs/d${(i + 1) % 5000}` },
    ]),
  );
  const cases: Record<string, JsonValue> = {
    "a ring of references": { type: "object", properties: {}, $defs: chain },
    "a long pattern": {
      type: "object",
      properties: { a: { type: "string", pattern: "(".repeat(900_000) } },
    },
    "many patterns": {
      type: "object",
      properties: Object.fromEntries(
        Array.from({ length: 900 }, (_, i) => [
          `p${i}`,
          { type: "string", pattern: "((((((((a+)+)+)+)+)+)+)+)+".repeat(30) },
        ]),
      ),
    },
    "a long reference": {
      type: "object",
      properties: { a: { $ref: `#${"/a".repeat(400_000)}` } },
    },
    "a wide enum": {
      type: "object",
      properties: {
        a: { enum: Array.from({ length: 9999 }, () => "x".repeat(90)) },
      },
    },
    "a wide required": {
      type: "object",
      required: Array.from({ length: 9999 }, (_, i) => `r${i}`),
      properties: {},
    },
    "a deep schema": Array.from({ length: 58 }).reduce<JsonValue>(
      (inner) => ({ not: inner }),
      {},
    ),
  };
  for (const [name, schema] of Object.entries(cases)) {
    const start = performance.now();
    await validateManifest(withSchema(schema));
    const elapsed = performance.now() - start;
    assert.ok(elapsed < 1000, `${name}: ${elapsed.toFixed()} ms`);
  }
});

/** The published meta-schema with its dynamic references made static, which the library can follow. */
function officialMetaSchema(): Validator {
  const root = new URL("../fixtures/json-schema-2020-12/", import.meta.url);
  const read = (name: string): JsonObject =>
    JSON.parse(
      Deno.readTextFileSync(new URL(name, root))
        .replaceAll(
          '{"$dynamicRef": "#meta"}',
          '{"$ref": "https://json-schema.org/draft/2020-12/schema"}',
        ),
    );
  const validator = new Validator(read("schema.json") as Bendable, "2020-12");
  for (
    const name of [
      "core",
      "applicator",
      "unevaluated",
      "validation",
      "meta-data",
      "format-annotation",
      "content",
    ]
  ) validator.addSchema(read(`meta/${name}.json`) as Bendable);
  return validator;
}

function isSchema(value: JsonValue): boolean {
  return subschemas(value, "").every(({ schema }) =>
    metaFaults(schema, "").length === 0
  );
}

Deno.test("our check of schemas and the published meta-schema agree", () => {
  const official = officialMetaSchema();
  assert.equal(official.validate({ type: "strnig" }).valid, false);
  const scalar = fc.constantFrom<JsonValue>(
    0,
    1,
    -1,
    1.5,
    true,
    null,
    "",
    "string",
    "a-b",
    "#/x",
    "#a",
    "(",
    "https://example.com/",
    "a b",
  );
  const { schema } = fc.letrec<{ schema: JsonValue; value: JsonValue }>(
    (tie) => ({
      schema: fc.dictionary(
        fc.constantFrom(...Object.keys(KEYWORDS), "other"),
        tie("value"),
        { maxKeys: 3 },
      ) as fc.Arbitrary<JsonValue>,
      value: fc.oneof(
        { depthSize: "small", maxDepth: 3 },
        scalar,
        fc.array(scalar, { maxLength: 3 }) as fc.Arbitrary<JsonValue>,
        fc.array(tie("schema"), { maxLength: 2 }) as fc.Arbitrary<JsonValue>,
        tie("schema"),
        fc.dictionary(
          fc.constantFrom("a", "(", "b/c"),
          fc.oneof(tie("schema"), scalar, fc.constant(["a", "b"])),
          { maxKeys: 2 },
        ) as fc.Arbitrary<JsonValue>,
      ),
    }),
  );
  const seen = { valid: 0, invalid: 0 };
  fc.assert(
    fc.property(schema, (value) => {
      const valid = official.validate(value).valid;
      seen[valid ? "valid" : "invalid"]++;
      assert.equal(isSchema(value), valid);
    }),
    { seed: 2020, numRuns: 4000 },
  );
  assert.ok(seen.valid > 200 && seen.invalid > 200, JSON.stringify(seen));
});
