/**
 * `deno task compile [--target TARGET …] [--all]`: the two programs, bundled and
 * compiled, into `dist/TARGET/`, each folder with `SHA256SUMS` and the bill of
 * materials. `DENO` names another Deno to compile with, `DENORT_BIN` a compile
 * runtime that is already there; otherwise Deno downloads it.
 */
import { bundle, type Stage } from "./bundle.ts";
import {
  fileName,
  permissionFlags,
  type Program,
  PROGRAMS,
  TARGETS,
} from "./programs.ts";
import { type DenoConfig, type DenoLock, readJson, ROOT } from "./project.ts";
import { run } from "./run.ts";
import { sbom } from "./sbom.ts";

const SBOM = "sbom.cdx.json";

function say(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

function wantedTargets(args: readonly string[]): readonly string[] {
  const wanted: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const [name, value = args[at + 1]] = (args[at] as string).split("=");
    if (name === "--all") return TARGETS;
    if (name !== "--target" || value === undefined) {
      throw new Error(
        "Usage: deno task compile [--target TARGET …] [--all]\nTargets: " +
          TARGETS.join(", "),
      );
    }
    if (!TARGETS.includes(value)) {
      throw new Error(
        `Unknown target "${value}"; there are ${TARGETS.join(", ")}`,
      );
    }
    wanted.push(value);
    if (!(args[at] as string).includes("=")) at++;
  }
  return wanted.length > 0 ? wanted : [Deno.build.target];
}

async function compile(
  deno: string,
  target: string,
  program: Program,
  stage: Stage,
  config: DenoConfig,
): Promise<string> {
  const output = `${ROOT}dist/${target}/${fileName(program, target)}`;
  const crossing = target === Deno.build.target ? [] : ["--target", target];
  await run(deno, [
    "compile",
    "--quiet",
    "--frozen",
    "--no-check",
    // The cache would lie under a name that others know in the folder for temporary files, and gains nothing here.
    "--no-code-cache",
    ...permissionFlags(config, program),
    ...crossing,
    ...stage.workers.flatMap((worker) => ["--include", worker]),
    "--output",
    output,
    stage.main,
  ], stage.dir);
  return output;
}

async function sha256(path: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    await Deno.readFile(path),
  );
  return [...new Uint8Array(digest)]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function main(args: readonly string[]): Promise<void> {
  const targets = wantedTargets(args);
  const config = await readJson<DenoConfig>("deno.json");
  const lock = await readJson<DenoLock>("deno.lock");
  const deno = Deno.env.get("DENO") ?? Deno.execPath();
  const version = await run(deno, ["--version"], ROOT);
  const bill = await sbom({
    config,
    lock,
    programs: PROGRAMS,
    denoVersion: /^deno (\S+)/.exec(version)?.[1] ?? "unknown",
  });
  const stages = new Map<Program, Stage>();
  for (const program of PROGRAMS) {
    const dir = `${ROOT}dist/stage/${program.name}`;
    stages.set(program, await bundle(program, dir, { config, lock }));
  }
  for (const target of targets) {
    const dir = `${ROOT}dist/${target}`;
    await Deno.mkdir(dir, { recursive: true });
    await Deno.writeTextFile(`${dir}/${SBOM}`, bill);
    const sums: string[] = [];
    for (const [program, stage] of stages) {
      const path = await compile(deno, target, program, stage, config);
      sums.push(`${await sha256(path)}  ${fileName(program, target)}`);
      say(`dist/${target}/${fileName(program, target)}`);
    }
    sums.push(`${await sha256(`${dir}/${SBOM}`)}  ${SBOM}`);
    await Deno.writeTextFile(`${dir}/SHA256SUMS`, `${sums.join("\n")}\n`);
    say(`dist/${target}/SHA256SUMS`);
  }
}

try {
  await main(Deno.args);
} catch (error) {
  Deno.stderr.writeSync(
    new TextEncoder().encode(
      `${error instanceof Error ? error.message : error}\n`,
    ),
  );
  Deno.exit(1);
}
