import assert from "node:assert/strict";
import { display, displayJson } from "./display.ts";

Deno.test("displayJson() hides nothing, steers no terminal and reads back the same", () => {
  const value = {
    "k\u009b": [
      "a\n\u001b[31m",
      "\u202eb",
      "\u2028",
      "é 日本 👩\u200d💻",
      "\u{e0041}",
    ],
  };
  const text = displayJson(value);
  assert.deepEqual(JSON.parse(text), value);
  assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  assert.match(text, /é 日本/);
  assert.match(text, /\\udb40\\udc41/);
});

Deno.test("display() shows what is not visible in a name", () => {
  assert.equal(display("a b\u202e.txt"), "a b\\u{202e}.txt");
});
