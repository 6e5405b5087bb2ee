import assert from "node:assert/strict";
import { argumentValidator } from "./arguments.ts";

const SCHEMA = {
  type: "object",
  properties: {
    inputs: { type: "object", additionalProperties: { type: "string" } },
  },
  additionalProperties: false,
};

Deno.test("argumentValidator() names the place of an ordinary fault whole", async () => {
  const check = argumentValidator(SCHEMA);
  const [fault] = await check({ inputs: { "a/b": 1 } });
  assert.equal(fault?.json_pointer, "/arguments/inputs/a~1b");
  assert.deepEqual(await check({ inputs: { a: "x" } }), []);
});

Deno.test("argumentValidator() does not say a name of a megabyte back", async () => {
  const check = argumentValidator(SCHEMA);
  const name = "k".repeat(1_000_000);
  for (
    const [args, place] of [
      [{ [name]: 1 }, "/arguments"],
      [{ inputs: { [name]: 1 } }, "/arguments/inputs"],
      [{ inputs: { [name]: "\u0000" } }, "/arguments/inputs"],
    ] as const
  ) {
    const faults = await check(args);
    assert.equal(faults[0]?.json_pointer, place);
    assert.ok(JSON.stringify(faults).length < 2000);
  }
});
