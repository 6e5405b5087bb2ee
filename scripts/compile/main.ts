/**
 * `deno task compile [--target TARGET …] [--all]`: the two programs, bundled and
 * compiled, into `dist/TARGET/`, each folder with `SHA256SUMS` and the bill of
 * materials. `DENO` names another Deno to compile with, `DENORT_BIN` a compile
 * runtime that is already there; otherwise Deno downloads it.
 */
import { build } from "./build.ts";
import { TARGETS } from "./programs.ts";
import { ROOT } from "./project.ts";

function wantedTargets(args: readonly string[]): readonly string[] {
  const wanted: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === "--all") return TARGETS;
    const target = arg === "--target"
      ? args[++at]
      : /^--target=(.+)$/.exec(arg)?.[1];
    if (target === undefined || !TARGETS.includes(target)) {
      throw new Error(
        `Usage: deno task compile [--target TARGET …] [--all]\nTargets: ${
          TARGETS.join(", ")
        }`,
      );
    }
    wanted.push(target);
  }
  return wanted.length > 0 ? wanted : [Deno.build.target];
}

function say(stream: "stdout" | "stderr", text: string): void {
  Deno[stream].writeSync(new TextEncoder().encode(`${text}\n`));
}

try {
  await build({
    targets: wantedTargets(Deno.args),
    out: `${ROOT}dist`,
    deno: Deno.env.get("DENO") ?? Deno.execPath(),
    done: (path) => say("stdout", path.slice(ROOT.length)),
  });
} catch (error) {
  say("stderr", error instanceof Error ? error.message : String(error));
  Deno.exit(1);
}
