/** Starts `cyberos-plugin` from source, as its task does. */
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The exact rights that `deno task plugin` gives. */
export const PROGRAM: readonly string[] = [
  "run",
  "--quiet",
  "--no-prompt",
  "--config",
  `${ROOT}deno.json`,
  "--allow-read",
  "--allow-write",
  "--allow-env=NO_COLOR,FORCE_COLOR,TERM",
  `${ROOT}cli.ts`,
];

/** What a run gave. */
export interface ProgramRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end. */
export async function runProgram(
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string> } =
    {},
): Promise<ProgramRun> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...PROGRAM, ...args],
    stdin: "null",
    ...options,
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}
