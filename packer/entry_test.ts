import assert from "node:assert/strict";
import fc from "fast-check";
import { comparePaths, memoryEntry } from "./entry.ts";

Deno.test("PACK-04 comparePaths() is the order of the UTF-8 bytes", () => {
  const bytes = (text: string) => [...new TextEncoder().encode(text)];
  const byBytes = (a: string, b: string) => {
    const [x, y] = [bytes(a), bytes(b)];
    for (let i = 0; i < Math.min(x.length, y.length); i++) {
      if (x[i] !== y[i]) return Math.sign((x[i] ?? 0) - (y[i] ?? 0));
    }
    return Math.sign(x.length - y.length);
  };
  const text = fc.string({ unit: "binary" });
  fc.assert(fc.property(text, text, (a, b) => {
    assert.equal(Math.sign(comparePaths(a, b)), byBytes(a, b));
  }));
  // UTF-16 order has these two the other way round.
  assert.ok(comparePaths("\uffee", "😀") < 0);
  assert.deepEqual(
    ["B", "a", "Z", "ä", "_", "-", "a/", "a.b", "a b", "10", "9"]
      .sort(comparePaths),
    ["-", "10", "9", "B", "Z", "_", "a", "a b", "a.b", "a/", "ä"],
  );
});

Deno.test("memoryEntry() knows its size and digest", async () => {
  const entry = await memoryEntry("a", "abc", 0o755);
  assert.equal(entry.size, 3);
  assert.equal(
    entry.sha256,
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  assert.deepEqual([...await entry.read()], [97, 98, 99]);
});
