import assert from "node:assert/strict";
import { didYouMean, editDistance, nearestNames } from "./nearest.ts";

const NAMES = [
  "chief-technology-officer",
  "chief-financial-officer",
  "chief-product-officer",
];

Deno.test("editDistance() counts inserts, deletes, replacements and swaps", () => {
  assert.equal(editDistance("abc", "abc"), 0);
  assert.equal(editDistance("abc", "acb"), 1);
  assert.equal(editDistance("abc", "ab"), 1);
  assert.equal(editDistance("", "abc"), 3);
  assert.equal(editDistance("kitten", "sitting"), 3);
});

Deno.test("nearestNames() finds a slip, a title, initials and a part", () => {
  assert.equal(nearestNames("chief-tecnology-oficer", NAMES)[0], NAMES[0]);
  assert.equal(nearestNames("Chief Financial Officer", NAMES)[0], NAMES[1]);
  assert.equal(nearestNames("CPO", NAMES)[0], NAMES[2]);
  assert.equal(nearestNames("technology", NAMES)[0], NAMES[0]);
  assert.equal(nearestNames("chief-fin-officer", NAMES)[0], NAMES[1]);
});

Deno.test("nearestNames() finds nothing near where nothing is", () => {
  assert.deepEqual(nearestNames("zzzzqqqq", NAMES), []);
  assert.deepEqual(nearestNames("", NAMES), []);
  assert.deepEqual(nearestNames("../../etc/passwd", NAMES), []);
});

Deno.test("nearestNames() bounds its work on long names", () => {
  const start = performance.now();
  nearestNames("x".repeat(100_000), Array(1000).fill("y".repeat(128)));
  assert.ok(performance.now() - start < 2_000);
});

Deno.test("didYouMean() names the nearest, or says where to look", () => {
  assert.equal(
    didYouMean("cto", NAMES, "See the list."),
    "Did you mean chief-technology-officer? See the list.",
  );
  assert.equal(didYouMean("zzzzqqqq", NAMES, "See the list."), "See the list.");
});
