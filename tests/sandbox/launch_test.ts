import assert from "node:assert/strict";
import { BRIDGE_FLAGS } from "./bridge_flags.ts";

const LAUNCHER = new URL("./loop_launcher.ts", import.meta.url).pathname;

Deno.test(
  "the launcher heeds no message but a sound exit, and a second signal ends a bridge that loops",
  {
    ignore: Deno.build.os === "windows",
  },
  async () => {
    const child = new Deno.Command(Deno.execPath(), {
      args: [...BRIDGE_FLAGS, LAUNCHER],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = child.stdout.getReader();
    await reader.read();
    await reader.cancel();
    const ended = child.status;
    // Whatever it said so far did not end it.
    const early = await Promise.race([
      ended,
      new Promise((resolve) => setTimeout(() => resolve("runs"), 200)),
    ]);
    assert.equal(early, "runs");
    child.kill("SIGTERM");
    // Two signals of one kind that are pending are one: leave the first its time.
    await new Promise((resolve) => setTimeout(resolve, 100));
    const began = performance.now();
    child.kill("SIGTERM");
    assert.equal((await ended).code, 1);
    assert.ok(
      performance.now() - began < 2000,
      "without waiting for the grace",
    );
  },
);

Deno.test("PKG-03 the launcher starts where a signal is unknown, and gives the worker's exit code", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...BRIDGE_FLAGS,
      new URL("./windows_launcher.ts", import.meta.url).pathname,
    ],
    stdin: "null",
  }).output();
  assert.equal(code, 7, new TextDecoder().decode(stderr));
  assert.equal(stdout.length + stderr.length, 0);
});
