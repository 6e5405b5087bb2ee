import assert from "node:assert/strict";
import { UsageError } from "./command.ts";
import { parseFlags } from "./flags.ts";

const KINDS = { out: "text", json: "switch", "dry-run": "switch" } as const;

Deno.test("parseFlags() takes flags and words in any order", () => {
  for (
    const args of [
      ["a", "--out", "x", "--json", "b"],
      ["--json", "a", "b", "--out=x"],
      ["--out", "x", "--json", "--", "a", "b"],
    ]
  ) {
    const { flags, words } = parseFlags(args, KINDS);
    assert.deepEqual(flags, { out: "x", json: true });
    assert.deepEqual(words, ["a", "b"]);
  }
  assert.deepEqual(parseFlags([], KINDS), { flags: {}, words: [] });
  assert.deepEqual(parseFlags(["-", "--", "--json"], KINDS).words, [
    "-",
    "--json",
  ]);
  assert.equal(parseFlags(["--out=a=b"], KINDS).flags.out, "a=b");
  assert.equal(parseFlags(["--out=-x"], KINDS).flags.out, "-x");
});

Deno.test("parseFlags() refuses what it does not know", () => {
  for (
    const args of [
      ["--bogus"],
      ["--bogus=1"],
      ["-j"],
      ["-out", "x"],
      ["--out"],
      ["--out="],
      ["--out", ""],
      ["--out", "--json"],
      ["--json=true"],
      ["--json", "--json"],
      ["--out", "a", "--out", "b"],
      ["--toString"],
      ["--__proto__"],
      ["---"],
    ]
  ) {
    assert.throws(() => parseFlags(args, KINDS), UsageError, args.join(" "));
  }
});
