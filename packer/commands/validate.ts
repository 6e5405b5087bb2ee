/** `cyberos-plugin validate`: is this manifest right, and if not, why? */
import { toFinding } from "../../schema/collector.ts";
import { per } from "../../schema/clause.ts";
import type { Finding } from "../../schema/finding.ts";
import { MANIFEST_LIMITS, tooLarge } from "../../schema/strict_json/mod.ts";
import type { DeclaredFiles } from "../../schema/files/port.ts";
import type { Manifest } from "../../schema/manifest.ts";
import type { ValidationReport } from "../../schema/validate.ts";
import { validateManifest } from "../../schema/validate.ts";
import { validatePlugin } from "../../schema/validate_plugin.ts";
import { filesOnDisk, readAtMost } from "../validate_report/disk_files.ts";
import type { FileResult } from "../validate_report/result.ts";
import { count } from "../validate_report/result.ts";
import { renderText } from "../validate_report/text.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";

const FORMATS = ["text", "json", "sarif", "github"] as const;
type Format = typeof FORMATS[number];

const HELP = `cyberos-plugin validate: check a manifest and everything it names

Usage: cyberos-plugin validate FILE… [OPTIONS]

FILE is a manifest, a pattern such as 'manifests/*.plugin.json', or - for
standard input. Declared commands and skills are looked up beside the manifest.
Nothing is written, run or fetched; reading is all it takes.

Options:
  --json           the same as --format json
  --format FORMAT  text (default, on stderr), json, sarif or github (on stdout)
  --strict         warnings fail too
  --root DIR       where commands/ and skills/ are, if not beside the manifest

Exit codes:
  0   no errors
  1   errors, with --strict also warnings
  2   wrong usage
  70  a bug in this program

What each finding means: docs/validate.md.
`;

/** The subcommand. */
export const command: Command = {
  name: "validate",
  summary: "check a manifest and everything it names",
  help: HELP,
  run,
};

const NOWHERE = { line: 1, column: 1, excerpt: "" } as const;

interface Flags {
  readonly files: readonly string[];
  readonly format: Format;
  readonly strict: boolean;
  readonly root?: string;
}

async function run(
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const flags = await parseFlags(args);
  if (flags.root !== undefined) await requireFolder(flags.root);
  const results: FileResult[] = [];
  for (const file of await expand(flags.files)) {
    const result = await validateFile(file, flags, terminal);
    results.push(flags.strict ? stricter(result) : result);
  }
  await print(results, flags.format, terminal);
  return count(results).errors === 0 ? 0 : 1;
}

async function parseFlags(args: readonly string[]): Promise<Flags> {
  const { values, positionals } = await parse(args);
  if (positionals.length === 0) {
    throw new UsageError("Name at least one manifest, or - for standard input");
  }
  const format = values.format ?? (values.json ? "json" : "text");
  if (!FORMATS.some((known) => known === format)) {
    throw new UsageError(
      `Unknown format "${format}": use ${FORMATS.join(", ")}`,
    );
  }
  if (values.json && format !== "json") {
    throw new UsageError(`--json and --format ${format} exclude each other`);
  }
  return {
    files: positionals,
    format: format as Format,
    strict: values.strict ?? false,
    ...(values.root === undefined ? {} : { root: values.root }),
  };
}

interface Parsed {
  readonly values: {
    readonly json?: boolean;
    readonly format?: string;
    readonly strict?: boolean;
    readonly root?: string;
  };
  readonly positionals: readonly string[];
}

async function parse(args: readonly string[]): Promise<Parsed> {
  // Loading the parser takes longer than validating.
  if (args.every((arg) => arg === "-" || !arg.startsWith("-"))) {
    return { values: {}, positionals: args };
  }
  const { parseArgs } = await import("node:util");
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        json: { type: "boolean" },
        format: { type: "string" },
        strict: { type: "boolean" },
        root: { type: "string" },
      },
    });
  } catch (error) {
    throw new UsageError(
      error instanceof Error ? error.message : String(error),
    );
  }
}

async function expand(names: readonly string[]): Promise<string[]> {
  const { expandPattern, isPattern } = names.some((name) => /[*?]/.test(name))
    ? await import("../validate_report/glob.ts")
    : { expandPattern: undefined, isPattern: undefined };
  const files = new Set<string>();
  for (const name of names) {
    if (!isPattern?.(name) || await exists(name)) {
      files.add(name);
      continue;
    }
    const matches = await expandPattern(name);
    if (matches.length === 0) {
      throw new UsageError(`No file matches "${name}"`);
    }
    matches.forEach((match) => files.add(match));
  }
  return [...files];
}

/** A mistyped folder would make every declared file look absent. */
async function requireFolder(root: string): Promise<void> {
  const isFolder = await Deno.stat(root).then(
    ({ isDirectory }) => isDirectory,
    () => false,
  );
  if (!isFolder) throw new UsageError(`--root "${root}" is no folder`);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}

async function validateFile(
  file: string,
  flags: Flags,
  terminal: Terminal,
): Promise<FileResult> {
  let source: Uint8Array;
  try {
    source = file === "-"
      ? await terminal.stdin(MANIFEST_LIMITS.maxBytes + 1)
      : await readAtMost(file, MANIFEST_LIMITS.maxBytes);
  } catch (error) {
    const finding = error instanceof UsageError
      ? toFinding(tooLarge(MANIFEST_LIMITS.maxBytes), NOWHERE)
      : unreadable(file, error);
    return { file: labelOf(file), findings: [finding], truncated: false };
  }
  return await validateSource(file, source, flags.root);
}

async function validateSource(
  file: string,
  source: Uint8Array,
  root: string | undefined,
): Promise<FileResult> {
  const folder = root ?? folderOf(file);
  const files: DeclaredFiles | undefined = folder === undefined
    ? undefined
    : filesOnDisk(folder);
  const report = files === undefined
    ? await validateManifest(source)
    : await validatePlugin(source, files);
  return {
    file: labelOf(file),
    findings: report.findings,
    truncated: report.truncated,
    ...describe(report),
    ...(files === undefined && declaresFiles(report.manifest)
      ? { note: "declared files were not checked; give their folder by --root" }
      : {}),
  };
}

function labelOf(file: string): string {
  return file === "-" ? "<stdin>" : file;
}

function folderOf(file: string): string | undefined {
  if (file === "-") return undefined;
  const end = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"));
  return end < 0 ? "." : file.slice(0, end) || "/";
}

function describe(report: ValidationReport): { contents?: string } {
  const { manifest } = report;
  if (manifest === undefined) return {};
  const sizes = [
    [manifest.tools.length, "tool"],
    [manifest.commands?.length ?? 0, "command"],
    [manifest.skills?.length ?? 0, "skill"],
  ] as const;
  return {
    contents: sizes.map(([n, noun]) => `${n} ${noun}${n === 1 ? "" : "s"}`)
      .join(", "),
  };
}

function declaresFiles(manifest: Manifest | undefined): boolean {
  return (manifest?.commands?.length ?? 0) + (manifest?.skills?.length ?? 0) >
    0;
}

function unreadable(file: string, error: unknown): Finding {
  const reason = error instanceof Deno.errors.NotFound
    ? "there is no such file"
    : error instanceof Deno.errors.IsADirectory
    ? "it is a folder"
    : error instanceof Deno.errors.PermissionDenied ||
        error instanceof Deno.errors.NotCapable
    ? "reading it is not permitted"
    : "reading it failed";
  return toFinding({
    json_pointer: "",
    constraint: "readable",
    message: `Cannot read "${file}": ${reason}`,
    hint: per(1, "Name a manifest such as manifests/acme@1.0.0.plugin.json"),
  }, NOWHERE);
}

function stricter(result: FileResult): FileResult {
  return {
    ...result,
    findings: result.findings.map((finding) => ({
      ...finding,
      severity: "error",
    })),
  };
}

async function print(
  results: readonly FileResult[],
  format: Format,
  terminal: Terminal,
): Promise<void> {
  if (format === "text") {
    return await terminal.stderr(renderText(results, terminal.color));
  }
  const machine = await import("../validate_report/machine.ts");
  const render = {
    json: machine.renderJson,
    sarif: machine.renderSarif,
    github: machine.renderGithub,
  }[format];
  await terminal.stdout(render(results));
}
