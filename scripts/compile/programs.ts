/** The two programs and the five machines. */
import type { DenoConfig } from "./project.ts";

/** A program to compile. */
export interface Program {
  readonly name: string;
  /** The main module, then the modules of its workers. */
  readonly entries: readonly [string, ...string[]];
  /** Import names that stay npm packages, whole. */
  readonly unbundled: readonly string[];
  /** Imports that stay files beside the bundle, with what they need of their own folder, by path in it. */
  readonly vendored: Readonly<Record<string, RegExp>>;
  /** Modules in a syntax that the bundler does not know; they are taken along as they are. */
  readonly copied: readonly string[];
  /** The task of `deno.json` whose permission flags are baked in. */
  readonly task: string;
  /** Permissions beyond the task's. */
  readonly flags: readonly string[];
}

/** Everything that a release has for one machine. */
export const PROGRAMS: readonly Program[] = [
  {
    name: "cyberos-mcp-bridge",
    entries: [
      "bridge/main.ts",
      "bridge/worker.ts",
      "bridge/store/pglite_worker.ts",
    ],
    unbundled: [],
    // It reads its WebAssembly and its data at run time. The rest of the package is twice as large, and a program is
    // read into memory whole: a millisecond for each megabyte, at every start.
    vendored: {
      "@electric-sql/pglite": /^([^/]+\.(js|wasm|data)|fs\/[^/]+\.js)$/,
    },
    copied: [],
    task: "bridge",
    flags: [],
  },
  {
    name: "cyberos-plugin",
    entries: ["cli.ts"],
    // The first has packages with JSON for their main modules; bundled, the second's connections break on Deno 2.6.
    unbundled: ["spdx-expression-parse", "@sigstore/sign"],
    vendored: { "@zip.js/zip.js/dist/zip-module.wasm": /^zip-module\.wasm$/ },
    copied: ["packer/zip/zlib_module.js"],
    task: "plugin",
    flags: [],
  },
];

/** The names by which Deno knows the machines that we release for. */
export const TARGETS: readonly string[] = [
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc",
];

/** What `deno compile` is given, taken from the task so that both ways to run are alike. */
export function permissionFlags(
  config: DenoConfig,
  program: Program,
): string[] {
  const command = config.tasks[program.task]?.command ?? "";
  const words = command.replaceAll("'", "").split(/\s+/);
  const flags = words.filter((word) =>
    word === "--no-prompt" || /^--(allow|deny|ignore)-/.test(word)
  );
  if (!flags.includes("--no-prompt")) {
    throw new Error(`The task "${program.task}" could prompt`);
  }
  return [...flags, ...program.flags];
}

/** The file's name on a target. */
export function fileName(program: Program, target: string): string {
  return target.includes("windows") ? `${program.name}.exe` : program.name;
}
