import assert from "node:assert/strict";
import { parseRetryAfter } from "./retry_after.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");

Deno.test("HTTP-29 parseRetryAfter() reads seconds and dates", () => {
  assert.equal(parseRetryAfter("3600", NOW), 3600);
  assert.equal(parseRetryAfter(" 0 ", NOW), 0);
  assert.equal(parseRetryAfter("Mon, 30 Nov 2026 12:01:30 GMT", NOW), 90);
  assert.equal(parseRetryAfter("Mon, 30 Nov 2026 11:00:00 GMT", NOW), 0);
});

Deno.test("HTTP-29 parseRetryAfter() bounds and refuses the rest", () => {
  assert.equal(parseRetryAfter("9999999999", NOW), 86_400);
  assert.equal(parseRetryAfter("99999999999999999999", NOW), undefined);
  for (const odd of [null, "", "-1", "1.5", "soon", "0x10", "2026-11-30"]) {
    assert.equal(parseRetryAfter(odd, NOW), undefined, String(odd));
  }
});
