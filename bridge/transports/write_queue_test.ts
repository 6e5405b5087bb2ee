import assert from "node:assert/strict";
import fc from "fast-check";
import { WriteQueue } from "./write_queue.ts";

const never = (): void => assert.fail("the sink must not fail");

Deno.test("WriteQueue writes all lines whole and in order, however little the sink takes", async () => {
  const lines = fc.array(fc.string({ unit: "grapheme", maxLength: 40 }));
  const takes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(lines, takes, async (lines, takes) => {
      const written: number[] = [];
      let turn = 0;
      const queue = new WriteQueue({
        write: async (bytes) => {
          if (turn % 3 === 0) await Promise.resolve();
          const count = Math.min(
            bytes.length,
            takes[turn++ % takes.length] ?? 1,
          );
          written.push(...bytes.subarray(0, count));
          return count;
        },
      }, never);
      for (const [index, line] of lines.entries()) {
        queue.push(line);
        if (index % 4 === 0) await Promise.resolve();
      }
      await queue.flush();
      const text = new TextDecoder().decode(Uint8Array.from(written));
      assert.equal(text, lines.map((line) => `${line}\n`).join(""));
      assert.equal(queue.pending, 0);
    }),
    { numRuns: 50 },
  );
});

Deno.test("WriteQueue joins lines of one turn into one write", async () => {
  let writes = 0;
  const queue = new WriteQueue({
    write: (bytes) => {
      writes++;
      return Promise.resolve(bytes.length);
    },
  }, never);
  for (let n = 0; n < 100; n++) queue.push("{}");
  await queue.flush();
  assert.equal(writes, 1);
});

Deno.test("WriteQueue says once that the reader has gone, and drops what comes after", async () => {
  const failures: unknown[] = [];
  let writes = 0;
  const queue = new WriteQueue({
    write: () => {
      writes++;
      return Promise.reject(new Deno.errors.BrokenPipe("gone"));
    },
  }, (error) => failures.push(error));
  queue.push("a");
  await queue.flush();
  queue.push("b");
  await queue.flush();
  await queue.below(0);
  assert.equal(failures.length, 1);
  assert.equal(writes, 1);
});

Deno.test("WriteQueue.below() resolves once enough has been taken", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const queue = new WriteQueue({
    write: async (bytes) => {
      await promise;
      return bytes.length;
    },
  }, never);
  queue.push("x".repeat(1000));
  let through = false;
  const waiting = queue.below(100).then(() => through = true);
  await new Promise((next) => setTimeout(next, 1));
  assert.equal(through, false);
  resolve();
  await waiting;
  assert.equal(queue.pending, 0);
});
