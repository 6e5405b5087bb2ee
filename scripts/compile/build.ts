/** From the table of programs to a folder of files for each target. */
import { bundle, type Stage } from "./bundle.ts";
import {
  fileName,
  permissionFlags,
  type Program,
  PROGRAMS,
} from "./programs.ts";
import { type DenoConfig, type DenoLock, readJson, ROOT } from "./project.ts";
import { run } from "./run.ts";
import { sbom } from "./sbom.ts";

/** Name of the bill of materials in each target's folder. */
export const SBOM = "sbom.cdx.json";

/** What {@link build} takes. */
export interface BuildOptions {
  readonly targets: readonly string[];
  /** Gets `TARGET/` for each. */
  readonly out: string;
  /** The Deno to compile with; its runtime ends up in the programs. */
  readonly deno: string;
  readonly programs?: readonly Program[];
  /** Told each file when it is there. */
  readonly done?: (path: string) => void;
}

/** Compiles every program for every target. */
export async function build(options: BuildOptions): Promise<void> {
  const { targets, out, deno, programs = PROGRAMS, done = () => {} } = options;
  const config = await readJson<DenoConfig>("deno.json");
  const lock = await readJson<DenoLock>("deno.lock");
  const version = await run(deno, ["--version"], ROOT);
  const bill = await sbom({
    config,
    lock,
    programs,
    denoVersion: /^deno (\S+)/.exec(version)?.[1] ?? "unknown",
  });
  const stages: [Program, Stage][] = [];
  for (const program of programs) {
    const dir = `${out}/stage/${program.name}`;
    stages.push([program, await bundle(program, dir, { config, lock })]);
  }
  for (const target of targets) {
    const dir = `${out}/${target}`;
    await Deno.mkdir(dir, { recursive: true });
    await Deno.writeTextFile(`${dir}/${SBOM}`, bill);
    for (const [program, stage] of stages) {
      const output = `${dir}/${fileName(program, target)}`;
      const flags = permissionFlags(config, program);
      await compile({ deno, target, stage, flags, output });
      done(output);
    }
    const names = programs.map((program) => fileName(program, target));
    await writeSums(dir, [...names, SBOM]);
    done(`${dir}/SHA256SUMS`);
  }
  await Deno.remove(`${out}/stage`, { recursive: true });
}

interface Compilation {
  readonly deno: string;
  readonly target: string;
  readonly stage: Stage;
  readonly flags: readonly string[];
  readonly output: string;
}

async function compile(
  { deno, target, stage, flags, output }: Compilation,
): Promise<void> {
  const crossing = target === Deno.build.target ? [] : ["--target", target];
  await run(deno, [
    "compile",
    "--quiet",
    "--frozen",
    "--no-check",
    // The cache would lie under a name that others know in the folder for temporary files, and gains nothing here.
    "--no-code-cache",
    ...flags,
    ...crossing,
    ...stage.includes.flatMap((path) => ["--include", path]),
    "--output",
    output,
    stage.main,
  ], stage.dir);
}

/** In the form that `sha256sum --check` reads. */
async function writeSums(
  dir: string,
  names: readonly string[],
): Promise<void> {
  const lines: string[] = [];
  for (const name of names) {
    lines.push(`${await sha256(`${dir}/${name}`)}  ${name}\n`);
  }
  await Deno.writeTextFile(`${dir}/SHA256SUMS`, lines.join(""));
}

async function sha256(path: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    await Deno.readFile(path),
  );
  return [...new Uint8Array(digest)]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
