import type { Schema } from "@cfworker/json-schema";
import { Validator } from "@cfworker/json-schema";
import assert from "node:assert/strict";
import fc from "fast-check";
import { compileArguments } from "./arguments.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { findTool, TOOLS } from "./tools.ts";

function schemaOf(name: string): JsonObject {
  const tool = findTool(name);
  assert.ok(tool !== undefined);
  return tool.inputSchema;
}

const execute = await compileArguments(
  schemaOf("cyberos.cuo.execute_workflow"),
);
const GOOD = { persona: "cto", workflow: "review", inputs: {} };

Deno.test("compileArguments() accepts what the schema allows", () => {
  assert.deepEqual(execute(GOOD), []);
  assert.deepEqual(
    execute({
      ...GOOD,
      inputs: { anything: [1, { deep: null }] },
      wait_seconds: 50,
      timeout_seconds: 3600,
      idempotency_key: "k",
    }),
    [],
  );
});

Deno.test("compileArguments() tells every wrong argument, where it should be", () => {
  const faults = execute({
    persona: "",
    workflo: "x",
    inputs: [],
    wait_seconds: 51,
    timeout_seconds: 1.5,
    "a/b": 1,
  });
  assert.deepEqual(
    faults.map(({ json_pointer, constraint }) =>
      `${json_pointer} ${constraint}`
    )
      .sort(),
    [
      "/a~1b additionalProperties",
      "/inputs type",
      "/persona minLength",
      "/timeout_seconds type",
      "/wait_seconds maximum",
      "/workflo additionalProperties",
      "/workflow required",
    ],
  );
  const messages = faults.map(({ message }) => message);
  assert.ok(messages.includes("Argument 'wait_seconds' must be at most 50"));
  assert.ok(
    messages.includes(
      "Argument 'workflo' is not known; did you mean 'workflow'?",
    ),
  );
  assert.ok(
    messages.includes("Argument 'inputs' must be an object, not an array"),
  );
});

Deno.test("compileArguments() answers to what is no object", () => {
  for (const value of [null, [], "x", 5, true]) {
    const [fault, ...others] = execute(value);
    assert.deepEqual(others, []);
    assert.equal(fault?.json_pointer, "");
    assert.equal(fault.constraint, "type");
  }
});

Deno.test("compileArguments() never repeats a value", () => {
  const secret = "hunter2-hunter2";
  const faults = execute({
    persona: { secret },
    workflow: secret.repeat(100),
    inputs: secret,
    wait_seconds: secret,
  });
  assert.equal(faults.length, 4);
  assert.doesNotMatch(JSON.stringify(faults), /hunter2/);
});

Deno.test("compileArguments() bounds its time and its answer", () => {
  const wide = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]),
  );
  const start = performance.now();
  assert.deepEqual(execute(wide).map(({ constraint }) => constraint), [
    "maxProperties",
  ]);
  const many = Object.fromEntries(
    Array.from({ length: 900 }, (_, i) => [`k${i}`, i]),
  );
  assert.equal(execute(many).length, 50);
  assert.ok(performance.now() - start < 1000);
});

Deno.test("compileArguments() leaves the table as it was", async () => {
  const before = structuredClone(TOOLS);
  for (const { inputSchema } of TOOLS) await compileArguments(inputSchema);
  assert.deepEqual(TOOLS, before);
  const frozen = Object.freeze({ type: "object", properties: {} });
  assert.deepEqual((await compileArguments(frozen))({}), []);
});

Deno.test("compileArguments() accepts only what the library accepts", async () => {
  const value = fc.constantFrom<JsonValue>(
    "cto",
    "",
    "x".repeat(300),
    0,
    1,
    50,
    51,
    1.5,
    -1,
    2 ** 60,
    {},
    { a: 1 },
    [],
    null,
    true,
    "Kind",
    "decision",
  );
  for (const { name, inputSchema } of TOOLS) {
    const check = await compileArguments(inputSchema);
    const library = new Validator(
      structuredClone(inputSchema) as Schema,
      "2020-12",
    );
    const names = [...Object.keys(inputSchema.properties ?? {}), "other"];
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 }),
        (args) => {
          const valid = library.validate(args).valid;
          assert.equal(check(args).length === 0, valid, name);
        },
      ),
      { seed: 17, numRuns: 400 },
    );
  }
});

Deno.test("compileArguments() answers to names that are no Unicode", () => {
  assert.deepEqual(execute({ ...GOOD, "\ud800": 1 }).map((f) => f.constraint), [
    "unicode",
  ]);
});

Deno.test("compileArguments() answers to any JSON", async () => {
  const checks = await Promise.all(
    TOOLS.map(({ inputSchema }) => compileArguments(inputSchema)),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      for (const check of checks) {
        for (const fault of check(value as JsonValue)) {
          assert.match(fault.json_pointer, /^(\/|$)/);
          assert.doesNotMatch(fault.message, /undefined/);
        }
      }
    }),
    { seed: 3, numRuns: 300 },
  );
});
