/** What `cyberos-plugin` says when a command fails. */
import assert from "node:assert/strict";
import { cli } from "./terminal.ts";

Deno.test("the name of a file or command cannot steer the terminal", async () => {
  const evil = "\x1b[2J\u202e.json";
  for (
    const [args, code] of [
      [["pack", evil], 1],
      [["sign", evil], 1],
      [["init", "--yes", "--out", `/nowhere/${evil}`], 1],
      [["rebuild", evil, evil], 2],
      [["validate", `${evil}*`], 2],
      [[evil], 2],
    ] as const
  ) {
    const run = await cli(args);
    assert.equal(run.code, code, run.stderr);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(run.stderr, /\x1b/, args[0]);
  }
});
