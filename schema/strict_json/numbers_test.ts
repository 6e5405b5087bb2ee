import assert from "node:assert/strict";
import { survives } from "./numbers.ts";

Deno.test("survives() accepts numbers that are read as they are written", () => {
  for (
    const token of [
      "0",
      "-0",
      "1.0",
      "1e2",
      "100e-2",
      "0.1",
      "0.30000000000000004",
      "9007199254740991",
      "-9007199254740991",
      "1.7976931348623157e-5",
      "5e-324",
      "123456789.12345678",
      "0.000000000000000000000000",
      "10000000.000000000000000",
    ]
  ) assert.ok(survives(token), token);
});

Deno.test("survives() refuses numbers that are read as others", () => {
  for (
    const token of [
      "9007199254740992",
      "9007199254740993",
      "-9007199254740993",
      "1e16",
      "1e400",
      "-1e400",
      "1.0000000000000001",
      "0.1000000000000000055511151231257827",
      "1e-400000000000000000",
    ]
  ) assert.ok(!survives(token), token);
});
