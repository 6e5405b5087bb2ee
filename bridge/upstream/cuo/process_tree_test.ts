import assert from "node:assert/strict";
import { descendantsIn, parseStat } from "./process_tree.ts";

const entry = (pid: number, parent: number, group = 1, session = 1) => ({
  pid,
  parent,
  group,
  session,
  started: String(pid * 10),
});

Deno.test("parseStat() reads a command that holds parentheses and spaces", () => {
  const rest = ["S", 7, 8, 9, ...Array(15).fill(0), 4242, 0].join(" ");
  assert.deepEqual(parseStat(`123 (a) b (c) ${rest}`), {
    pid: 123,
    parent: 7,
    group: 8,
    session: 9,
    started: "4242",
  });
});

Deno.test("parseStat() passes over zombies and garbage", () => {
  const rest = ["Z", 7, 8, 9, ...Array(15).fill(0), 4242, 0].join(" ");
  assert.equal(parseStat(`123 (a) ${rest}`), undefined);
  assert.equal(parseStat(""), undefined);
});

Deno.test("descendantsIn() finds children, their children, and orphans of the group or session", () => {
  const table = [
    entry(1, 0),
    entry(10, 1),
    entry(12, 11),
    entry(11, 10),
    entry(20, 1, 10),
    entry(21, 1, 21, 10),
    entry(22, 21, 22, 22),
    entry(30, 1),
  ];
  assert.deepEqual(
    descendantsIn(table, 10).map(({ pid }) => pid).sort(),
    [11, 12, 20, 21, 22],
  );
});
