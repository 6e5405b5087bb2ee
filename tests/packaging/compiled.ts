/** Compiled programs for the tests, and an empty place to run them in. */
import { build, type BuildOptions } from "../../scripts/compile/build.ts";

/**
 * Why the tests of compiled programs do not run here, or `undefined`. Deno
 * downloads its compile runtime; where it cannot, `DENORT_BIN` names one, and
 * `DENO` the Deno that goes with it. `CYBEROS_TEST_COMPILED` allows the download.
 */
export const NO_COMPILE_RUNTIME: boolean =
  Deno.env.get("DENORT_BIN") === undefined &&
  Deno.env.get("CYBEROS_TEST_COMPILED") === undefined;

/** A folder with compiled programs; gone at the end of `await using`. */
export interface Compiled extends AsyncDisposable {
  /** The folder of this machine's target. */
  readonly dir: string;
}

/** Compiles for this machine. */
export async function compiled(
  options: Pick<BuildOptions, "programs"> = {},
): Promise<Compiled> {
  const out = await Deno.realPath(await Deno.makeTempDir());
  await build({
    ...options,
    out,
    targets: [Deno.build.target],
    deno: Deno.env.get("DENO") ?? Deno.execPath(),
  });
  return {
    dir: `${out}/${Deno.build.target}`,
    [Symbol.asyncDispose]: () => Deno.remove(out, { recursive: true }),
  };
}

/** What a program said, and how it ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end in an empty folder, with an empty environment. */
export async function runAlone(
  program: string,
  args: readonly string[],
  options: { cwd: string; stdin?: string },
): Promise<Ended> {
  const child = new Deno.Command(program, {
    args: [...args],
    cwd: options.cwd,
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  if (options.stdin !== undefined) {
    await writer.write(new TextEncoder().encode(options.stdin));
  }
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** An empty folder; gone at the end of `await using`. */
export async function emptyDir(): Promise<{ path: string } & AsyncDisposable> {
  const path = await Deno.realPath(await Deno.makeTempDir());
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}
