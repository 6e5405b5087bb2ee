import assert from "node:assert/strict";
import type { Program } from "../../scripts/compile/programs.ts";
import { launchEscapes } from "../sandbox/launch_escapes.ts";
import { compiled, NO_COMPILE_RUNTIME } from "./compiled.ts";

/** The bridge's own launcher and flags around the worker that tries to escape. */
const LAUNCHER: Program = {
  name: "launcher",
  entries: ["tests/sandbox/launcher.ts", "tests/sandbox/escape_worker.ts"],
  unbundled: [],
  vendored: {},
  copied: [],
  task: "bridge",
  flags: [],
};

Deno.test(
  "the sandbox of a compiled program refuses every escape, and permits the act beside it",
  {
    ignore: NO_COMPILE_RUNTIME || Deno.build.os !== "linux",
  },
  async (t) => {
    await using built = await compiled({ programs: [LAUNCHER] });
    const { reports, stderr, code } = await launchEscapes({
      command: `${built.dir}/launcher`,
      args: ["--guarded"],
    });
    assert.equal(code, 0, stderr);
    for (const { name, attempt, control } of reports) {
      await t.step(name, () => {
        assert.match(attempt, /^(refused|nothing)$/);
        assert.equal(control, "worked");
      });
    }
  },
);
