import assert from "node:assert/strict";
import fc from "fast-check";
import { BridgeError } from "../errors.ts";
import { decodeMessage } from "./decode_message.ts";

const encoder = new TextEncoder();

function codeOf(bytes: Uint8Array | string): string {
  try {
    decodeMessage(bytes);
    return "none";
  } catch (error) {
    assert.ok(error instanceof BridgeError);
    return error.code;
  }
}

Deno.test("decodeMessage() gives back any JSON value of a sane depth", () => {
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
    const text = JSON.stringify(value);
    const expected = JSON.parse(text);
    assert.deepEqual(decodeMessage(encoder.encode(text)), expected);
    assert.deepEqual(decodeMessage(text), expected);
  }));
});

Deno.test("decodeMessage() either gives a value or throws a refusal, for any bytes", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    assert.ok(
      ["none", "PARSE_ERROR", "INVALID_REQUEST"].includes(codeOf(bytes)),
    );
  }));
});

Deno.test("decodeMessage() refuses what is not UTF-8, UTF-16 among it", () => {
  const utf16 = Uint8Array.from('{"a":1}', (c) => c.charCodeAt(0));
  const wide = new Uint8Array(utf16.length * 2);
  utf16.forEach((byte, index) => wide[index * 2] = byte);
  assert.equal(codeOf(wide), "PARSE_ERROR");
  assert.equal(codeOf(Uint8Array.of(0x22, 0xff, 0x22)), "PARSE_ERROR");
  assert.equal(codeOf(Uint8Array.of(0xff, 0xfe, 0x22, 0x00)), "PARSE_ERROR");
});

Deno.test("decodeMessage() leaves one byte order mark out, not two", () => {
  assert.equal(codeOf(encoder.encode("\ufeff1")), "none");
  assert.equal(codeOf(encoder.encode("\ufeff\ufeff1")), "PARSE_ERROR");
});

Deno.test("decodeMessage() bounds the depth of objects and arrays alike", () => {
  for (const [open, close] of [["[", "]"], ['{"a":', "}"]] as const) {
    const nested = (depth: number) =>
      `${open.repeat(depth)}1${close.repeat(depth)}`;
    assert.equal(codeOf(nested(64)), "none");
    assert.equal(codeOf(nested(65)), "INVALID_REQUEST");
    assert.equal(codeOf(nested(100_000)), "INVALID_REQUEST");
  }
});

Deno.test("decodeMessage() takes __proto__ for a name like any other", () => {
  const value = decodeMessage('{"__proto__":{"polluted":true}}');
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.ok(Object.hasOwn(value as object, "__proto__"));
});
