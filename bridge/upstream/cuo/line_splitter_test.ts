import assert from "node:assert/strict";
import { type Line, LineSplitter } from "./line_splitter.ts";

const encoder = new TextEncoder();

function split(
  chunks: readonly (string | Uint8Array)[],
  maxLineBytes = 1000,
): readonly Line[] {
  const splitter = new LineSplitter(maxLineBytes);
  const lines = chunks.flatMap((chunk) =>
    splitter.push(typeof chunk === "string" ? encoder.encode(chunk) : chunk)
  );
  return [...lines, ...splitter.end()];
}

const texts = (lines: readonly Line[]) =>
  lines.map((line) => "text" in line ? line.text : line.fault);

Deno.test("LineSplitter cuts at line feeds alone, whatever the chunks", () => {
  assert.deepEqual(texts(split(["a\nb", "b\n", "\nc"])), ["a", "bb", "", "c"]);
});

Deno.test("STD-02 LineSplitter keeps characters whole that arrive a byte at a time", () => {
  const bytes = encoder.encode("né — 𝄞 한\nnext\n");
  const lines = split([...bytes].map((byte) => Uint8Array.of(byte)));
  assert.deepEqual(texts(lines), ["né — 𝄞 한", "next"]);
});

Deno.test("STD-03 LineSplitter takes U+2028, U+2029, U+0085 and VT for text", () => {
  assert.deepEqual(texts(split(["a\u2028b\u2029c\u0085d\u000be\n"])), [
    "a\u2028b\u2029c\u0085d\u000be",
  ]);
});

Deno.test("STD-04 LineSplitter drops one byte order mark and a carriage return", () => {
  assert.deepEqual(texts(split(["\uFEFFa\r\n", "\uFEFFb\n"])), ["a", "b"]);
});

Deno.test("STD-20 LineSplitter drops a line over the bound and reads on after it", () => {
  const lines = split(["x".repeat(600), "x".repeat(600), "x\nok\n"]);
  assert.deepEqual(texts(lines), ["too long", "ok"]);
  assert.ok("fault" in lines[0]! && lines[0].head.startsWith("xxx"));
});

Deno.test("STD-20 LineSplitter takes time that grows with the bytes, not their square", () => {
  const time = (megabytes: number) => {
    const splitter = new LineSplitter(256 * 1024 * 1024);
    const chunk = new Uint8Array(1024).fill(97);
    const start = performance.now();
    for (let i = 0; i < megabytes * 1024; i++) splitter.push(chunk);
    splitter.end();
    return performance.now() - start;
  };
  time(2);
  const small = Math.max(time(4), 1);
  assert.ok(time(16) < small * 40, "16 MB took far more than 4 times 4 MB");
});

Deno.test("LineSplitter reports bytes that are not UTF-8 and reads on", () => {
  const lines = split([Uint8Array.of(0xff, 0xfe, 0x0a), "ok\n"]);
  assert.deepEqual(texts(lines), ["not UTF-8", "ok"]);
});
