import assert from "node:assert/strict";
import fc from "fast-check";
import { LineSplitter } from "./line_splitter.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The lines of the bytes, given in chunks whose buffer is used again each time. */
function split(bytes: Uint8Array, cuts: number[], maxBytes = 1e6): string[] {
  const splitter = new LineSplitter(maxBytes);
  const lines: string[] = [];
  const edges = [
    0,
    ...cuts.map((cut) => cut % (bytes.length + 1)),
    bytes.length,
  ]
    .sort((a, b) => a - b);
  const lent = new Uint8Array(bytes.length);
  for (let i = 1; i < edges.length; i++) {
    const chunk = bytes.subarray(edges[i - 1], edges[i]);
    lent.set(chunk);
    for (const line of splitter.push(lent.subarray(0, chunk.length))) {
      lines.push(line.kind === "line" ? decoder.decode(line.bytes) : "!");
    }
    lent.fill(0x58);
  }
  for (const line of splitter.end()) {
    lines.push(line.kind === "line" ? decoder.decode(line.bytes) : "!");
  }
  return lines;
}

Deno.test("LineSplitter gives the same lines however the bytes are cut", () => {
  const text = fc.stringMatching(/^[a-z 𝄞é\u2028\n\r\t]{0,60}$/u);
  fc.assert(fc.property(text, fc.array(fc.nat()), (text, cuts) => {
    const expected = text.split("\n").map((line) =>
      line.replace(/[ \t\r]+$/, "")
    )
      .filter((line) => line !== "");
    assert.deepEqual(split(encoder.encode(text), cuts), expected);
  }));
});

Deno.test("LineSplitter reports each line over the limit once, however it is cut, and keeps the others", () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 });
  fc.assert(fc.property(lengths, fc.array(fc.nat()), (lengths, cuts) => {
    const lines = lengths.map((length) => "a".repeat(length));
    const expected = lines.map((line) => line.length > 10 ? "!" : line);
    const bytes = encoder.encode(lines.join("\n"));
    assert.deepEqual(split(bytes, cuts, 10), expected);
  }));
});

Deno.test("LineSplitter holds no more than the limit of a line that never ends", () => {
  const splitter = new LineSplitter(1000);
  const chunk = new Uint8Array(600).fill(0x61);
  const found = Array.from({ length: 10_000 }, () => splitter.push(chunk));
  assert.deepEqual(found.flat(), [{ kind: "too long" }]);
});
