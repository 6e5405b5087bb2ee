/** Runs every escape in a process of its own. */
import type { Report } from "./escape_worker.ts";
import { startScene } from "./scene.ts";
import { SECRET, SECRET_NAME } from "./targets.ts";

/** A program, and what it is given before the scene's own arguments. */
export interface Launcher {
  readonly command: string;
  /** Ends in `--guarded` or `--unguarded`. */
  readonly args: readonly string[];
}

/** What came of it. */
export interface Launched {
  readonly reports: readonly Report[];
  readonly stderr: string;
  readonly code: number;
}

/** Starts the launcher in a fresh scene and reads its reports. */
export async function launchEscapes(
  { command, args }: Launcher,
): Promise<Launched> {
  await using scene = await startScene();
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [
      ...args,
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
  const lines = new TextDecoder().decode(stdout).split("\n").filter(Boolean);
  return {
    code,
    stderr: new TextDecoder().decode(stderr),
    reports: lines.map((line) => JSON.parse(line) as Report),
  };
}
