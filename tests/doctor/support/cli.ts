/** Runs the real program in a process of its own, with exactly these permissions. */
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../../../cli.ts", import.meta.url));

/** What became of a run. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run. */
export interface CliOptions {
  /** Deno's permission flags; reading alone unless given. */
  readonly permissions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Where Deno keeps its modules, so that a test can move the home folder away. */
export async function denoDir(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
    stderr: "null",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

/** Runs `cyberos-plugin` with these arguments. */
export async function runProgram(
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  const permissions = options.permissions ?? ["--allow-read"];
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--quiet",
      "--cached-only",
      ...permissions,
      CLI,
      ...args,
    ],
    env: { NO_COLOR: "1", ...options.env },
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (options.stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
