import assert from "node:assert/strict";
import { encodeAnswer, encodeMessage } from "./encode_message.ts";

const LONE = "a\ud83d";
const TRACE = "0".repeat(32);

function answerWith(result: Record<string, string>): string {
  const response = { jsonrpc: "2.0", id: 1, result } as const;
  return encodeAnswer({ response, traceId: TRACE });
}

Deno.test("encodeAnswer() and encodeMessage() write no lone surrogate, which strict hosts cannot read", () => {
  const params = { [LONE]: LONE, low: "\udc00b" };
  const message = { jsonrpc: "2.0", method: "m", params } as const;
  for (const text of [answerWith(params), encodeMessage(message)]) {
    assert.doesNotMatch(text, /\\ud[89a-f]/);
    assert.match(text, /"a\\ufffd":"a\\ufffd","low":"\\ufffdb"/);
  }
});

Deno.test("encodeAnswer() leaves every other text as it is", () => {
  const result = { pair: "\u{1f600}", escaped: "\\ud83d", both: `\\${LONE}` };
  assert.deepEqual(JSON.parse(answerWith(result)).result, {
    ...result,
    both: "\\a\ufffd",
  });
});
