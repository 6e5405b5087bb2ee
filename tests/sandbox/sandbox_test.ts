import assert from "node:assert/strict";
import { BRIDGE_FLAGS } from "./bridge_flags.ts";
import { ESCAPES } from "./escapes.ts";
import { launchEscapes } from "./launch_escapes.ts";

const CONFIG = `--config=${
  new URL("../../deno.json", import.meta.url).pathname
}`;
const LAUNCHER = new URL("./launcher.ts", import.meta.url).pathname;

// The aims are Linux's: /proc, libc.so.6, ELF.
const ignore = Deno.build.os !== "linux";

Deno.test("the sandbox refuses every escape, and permits the act beside it", {
  ignore,
}, async (t) => {
  const { reports, stderr, code } = await launchEscapes({
    command: Deno.execPath(),
    args: [...BRIDGE_FLAGS, CONFIG, LAUNCHER, "--guarded"],
  });
  assert.equal(code, 0, stderr);
  assert.deepEqual(
    reports.map(({ name }) => name),
    ESCAPES.map(({ name }) => name),
  );
  for (const { name, attempt, control } of reports) {
    await t.step(name, () => {
      assert.match(attempt, /^(refused|nothing)$/);
      assert.equal(control, "worked");
    });
  }
});

Deno.test(
  "every escape works without the sandbox, so that its refusal means something",
  {
    ignore,
  },
  async (t) => {
    // A module of a test server must not enter the lock file.
    const broad = ["run", "--quiet", "--no-prompt", "--no-lock", "--allow-all"];
    const { reports, stderr, code } = await launchEscapes({
      command: Deno.execPath(),
      args: [...broad, CONFIG, LAUNCHER, "--unguarded"],
    });
    assert.equal(code, 0, stderr);
    assert.equal(reports.length, ESCAPES.length);
    for (const { name, attempt } of reports) {
      await t.step(name, () => assert.equal(attempt, "worked"));
    }
  },
);
