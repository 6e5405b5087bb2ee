/** Starting, steering and feeding other programs. */
import { spawnSync } from "node:child_process";
import process from "node:process";
import type { Escape } from "./escapes.ts";
import type { Targets } from "./targets.ts";

async function run(
  program: string,
  options: Deno.CommandOptions = {},
): Promise<boolean> {
  const { success } = await new Deno.Command(program, {
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    ...options,
  }).output();
  return success;
}

const allowed = (targets: Targets) => run(targets.allowedProgram);

/** The program that the configuration names is the only one. */
export const escapesByProgram: readonly Escape[] = [
  {
    name: "start another program",
    attempt: (targets) => run(targets.otherProgram),
    control: allowed,
  },
  {
    name: "start a shell",
    attempt: () => run("/bin/sh", { args: ["-c", "exit 0"] }),
    control: allowed,
  },
  {
    name: "start a namesake of the allowed program elsewhere",
    attempt: (targets) => run(`${targets.dataDir}/cyberos-cuo`),
    control: allowed,
  },
  {
    name: "start another program through node:child_process",
    attempt: ({ otherProgram }) => {
      const { error, status } = spawnSync(otherProgram);
      if (error !== undefined) throw error;
      return status === 0;
    },
    control: ({ allowedProgram }) =>
      spawnSync(allowedProgram, { env: {} }).status === 0,
  },
  {
    name: "load code into the allowed program with LD_PRELOAD",
    attempt: (targets) =>
      run(targets.allowedProgram, { env: { LD_PRELOAD: targets.secretFile } }),
    control: (targets) => run(targets.allowedProgram, { env: { LANG: "C" } }),
  },
  {
    name: "send a signal to another process",
    attempt: ({ otherPid }) => Deno.kill(otherPid, "SIGCONT"),
    control: async ({ allowedProgram }) => {
      const child = new Deno.Command(allowedProgram, {
        args: ["sleep"],
        clearEnv: true,
        stdout: "null",
      }).spawn();
      child.kill("SIGKILL");
      return (await child.status).signal === "SIGKILL";
    },
  },
  {
    name: "send a signal to another process through node:process",
    attempt: ({ otherPid }) => process.kill(otherPid, "SIGCONT"),
    control: allowed,
  },
];
