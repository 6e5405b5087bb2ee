import assert from "node:assert/strict";
import { createSignatureMemo } from "./signature_memo.ts";

Deno.test("createSignatureMemo() recalls exact token bytes until their time", () => {
  const memo = createSignatureMemo(10);
  memo.remember("token", "key", 1_000);
  assert.equal(memo.recall("token", 999), "key");
  assert.equal(memo.recall("tokeN", 999), undefined);
  assert.equal(memo.recall("token", 1_000), undefined);
  assert.equal(memo.recall("token", 0), undefined, "gone once it is over");
});

Deno.test("createSignatureMemo() stays within its bound, the least used goes first", () => {
  const memo = createSignatureMemo(3);
  for (const token of ["a", "b", "c"]) memo.remember(token, token, 10);
  memo.recall("a", 0);
  memo.remember("d", "d", 10);
  assert.equal(memo.recall("b", 0), undefined);
  for (const token of ["a", "c", "d"]) {
    assert.equal(memo.recall(token, 0), token);
  }
});

Deno.test("createSignatureMemo() of no entries remembers nothing", () => {
  const memo = createSignatureMemo(0);
  memo.remember("token", "key", 1_000);
  assert.equal(memo.recall("token", 0), undefined);
});
