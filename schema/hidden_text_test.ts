import assert from "node:assert/strict";
import { hiddenText } from "./hidden_text.ts";

Deno.test("hiddenText() sees what a reader cannot", () => {
  for (
    const sign of [
      "\u0000",
      "\u001b",
      "\u007f",
      "\u0085",
      "\u00ad",
      "\u200b",
      "\u202e",
      "\u2066",
      "\u2060",
      "\ufeff",
      "\ue000",
      "\u{e0041}",
      "\u{e0100}",
      "\u3164",
      "\u115f",
      "\ufffa",
      "\ufe00\ufe01\ufe0e",
      "\u200d\u200c\u200d",
    ]
  ) assert.ok(hiddenText(`a${sign}b`), sign.codePointAt(0)?.toString(16));
  for (
    const text of [
      "a\tb\r\n",
      "é ß 漢字 ع",
      "👩‍💻 ❤️ 👁️‍🗨️",
      "می‌خواهم",
      "a\u00a0b",
      "“x” — …",
    ]
  ) {
    assert.equal(hiddenText(text), false, text);
  }
});
