import assert from "node:assert/strict";
import { nearest } from "./nearest.ts";

const KNOWN = ["scopes", "description", "name", "input_schema"];

Deno.test("nearest() guesses small slips only", () => {
  assert.equal(nearest("scope", KNOWN), "scopes");
  assert.equal(nearest("Scopes", KNOWN), "scopes");
  assert.equal(nearest("descripton", KNOWN), "description");
  assert.equal(nearest("inputSchema", KNOWN), "input_schema");
  assert.equal(nearest("nmae", KNOWN), undefined);
  assert.equal(nearest("color", KNOWN), undefined);
  assert.equal(nearest("x", KNOWN), undefined);
  assert.equal(nearest("", KNOWN), undefined);
  assert.equal(nearest("scopes", KNOWN), undefined);
  assert.equal(nearest("s".repeat(10_000), KNOWN), undefined);
});
