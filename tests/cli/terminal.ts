/** A terminal that keeps what it was told, to run commands in the test's own process. */
import { runCli } from "../../cli.ts";
import type { Terminal } from "../../packer/commands/command.ts";

/** What a run left behind. */
export interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `cyberos-plugin` with these arguments. */
export async function cli(
  args: readonly string[],
  options: {
    readonly stdin?: Uint8Array;
    readonly color?: boolean;
    /** What a person types, line by line. */
    readonly typed?: readonly string[];
  } = {},
): Promise<CliRun> {
  const written = { stdout: "", stderr: "" };
  const lines = [...options.typed ?? []];
  const terminal: Terminal = {
    stdout: (text) => {
      written.stdout += text;
      return Promise.resolve();
    },
    stderr: (text) => {
      written.stderr += text;
      return Promise.resolve();
    },
    stdin: () => Promise.resolve(options.stdin ?? new Uint8Array()),
    ask: (question) => {
      written.stderr += question;
      return Promise.resolve(lines.shift());
    },
    color: options.color ?? false,
    interactive: options.typed !== undefined,
  };
  return { code: await runCli(args, terminal), ...written };
}

/** The path of a fixture among manifests. */
export function manifestPath(name: string): string {
  return new URL(`../fixtures/manifests/${name}`, import.meta.url).pathname;
}
