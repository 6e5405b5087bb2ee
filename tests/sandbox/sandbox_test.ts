import assert from "node:assert/strict";
import { BRIDGE_FLAGS } from "./bridge_flags.ts";
import type { Report } from "./escape_worker.ts";
import { ESCAPES } from "./escapes.ts";
import { startScene } from "./scene.ts";
import { SECRET, SECRET_NAME } from "./targets.ts";

const ROOT = new URL("../../", import.meta.url);
const LAUNCHER = new URL("./launcher.ts", import.meta.url).pathname;

interface Launched {
  readonly reports: readonly Report[];
  readonly stderr: string;
  readonly code: number;
}

/** Runs every escape in a process of its own. */
async function launchEscapes(
  mode: "--guarded" | "--unguarded",
  flags: readonly string[],
): Promise<Launched> {
  await using scene = await startScene();
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...flags,
      LAUNCHER,
      mode,
      JSON.stringify(scene.targets),
      `--memory-endpoint=${scene.targets.allowedOrigin}`,
      "--jwks-url=http://127.0.0.1:1/keys",
    ],
    cwd: scene.dir,
    clearEnv: true,
    env: {
      PATH: scene.programs,
      HOME: scene.dir,
      TMPDIR: scene.dir,
      DENO_DIR: Deno.env.get("DENO_DIR") ??
        `${Deno.env.get("HOME")}/.cache/deno`,
      CYBEROS_ACCESS_TOKEN: "a-token",
      [SECRET_NAME]: SECRET,
    },
    stdin: "null",
  }).output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  return {
    code,
    stderr: new TextDecoder().decode(stderr),
    reports: lines.map((line) => JSON.parse(line) as Report),
  };
}

// The aims are Linux's: /proc, libc.so.6, ELF.
const ignore = Deno.build.os !== "linux";

Deno.test("the sandbox refuses every escape, and permits the act beside it", {
  ignore,
}, async (t) => {
  const { reports, stderr, code } = await launchEscapes("--guarded", [
    ...BRIDGE_FLAGS,
    `--config=${ROOT.pathname}deno.json`,
  ]);
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
    const { reports, stderr, code } = await launchEscapes("--unguarded", [
      "run",
      "--quiet",
      "--no-prompt",
      "--allow-all",
      `--config=${ROOT.pathname}deno.json`,
    ]);
    assert.equal(code, 0, stderr);
    for (const { name, attempt } of reports) {
      await t.step(name, () => assert.equal(attempt, "worked"));
    }
  },
);
