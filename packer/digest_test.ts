import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Sha256, sha256Hex } from "./digest.ts";

Deno.test("Sha256 gives the digest of the whole, however it is cut, past its buffer too", async () => {
  for (const size of [0, 1, 1000, 9 * 1024 * 1024]) {
    const bytes = new Uint8Array(size).map((_, i) => i * 31);
    const expected = createHash("sha256").update(bytes).digest("hex");
    const hash = new Sha256();
    for (let at = 0; at < size; at += 3 * 1024 * 1024) {
      await hash.update(bytes.subarray(at, at + 3 * 1024 * 1024));
    }
    assert.equal(await hash.digest(), expected);
    assert.equal(await sha256Hex(bytes), expected);
  }
});

Deno.test("Sha256 keeps no view of the caller's buffer", async () => {
  const buffer = Uint8Array.of(1, 2, 3);
  const hash = new Sha256();
  await hash.update(buffer);
  buffer.fill(0);
  assert.equal(await hash.digest(), await sha256Hex(Uint8Array.of(1, 2, 3)));
});
