/** `cyberos-plugin pack`: writes a reproducible bundle for a host. */
import { InvalidManifestError } from "../errors.ts";
import { HOSTS } from "../hosts/mod.ts";
import { pack, type PackNotice, type PackProgress } from "../pack.ts";
import { DEFERRED_TARGETS, type PackResult, TARGETS } from "../types.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";
import { type ParsedFlags, parseFlags } from "./flags.ts";
import { INTERRUPTED, interruptible } from "./interrupt.ts";

const HELP = `cyberos-plugin pack: write a reproducible bundle for a host

Usage: cyberos-plugin pack MANIFEST [OPTIONS]

MANIFEST is <id>@<version>.plugin.json; the commands and skills that it declares
lie beside it. The same source and signature give the same bytes everywhere.

Options:
  --target HOST       ${TARGETS.join(", ")} (default ${TARGETS[0]})
  --out DIR           where the bundle goes (default dist); made if need be
  --bridge FILE       take a compiled bridge along and let the host start it
  --signature FILE    use this signature instead of the manifest's own
  --verify            fail unless the signature is a valid one of this content
  --allow-unsigned    pack a manifest without a signature, to *.unsigned.zip
  --no-reproducible   stamp the entries with the time: for debugging only
  --json              print the result as JSON on stdout

The bundle is <id>-<version>.plugin for ${TARGETS[0]} and
<id>-<version>.HOST.plugin for the others. Not packed for yet: ${
  DEFERRED_TARGETS.join(", ")
}.

Exit codes:
  0    the bundle is written
  1    refused, and nothing is written
  2    wrong usage
  70   a bug in this program
  130  interrupted, and nothing is written

More in docs/pack.md and docs/hosts.md.
`;

/** The subcommand. */
export const command: Command = {
  name: "pack",
  summary: "write a reproducible bundle for a host",
  help: HELP,
  run,
};

async function run(
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { manifest, flags } = parse(args);
  const notices: PackNotice[] = [];
  const progress = new ProgressLine(terminal);
  try {
    const result = await interruptible((signal) =>
      pack(manifest, {
        ...(flags.target !== undefined && { target: flags.target }),
        ...(flags.out !== undefined && { outDir: flags.out }),
        ...(flags.bridge !== undefined && { bridge: flags.bridge }),
        ...(flags.signature !== undefined &&
          { signatureFile: flags.signature }),
        failOnUnsigned: !flags["allow-unsigned"],
        reproducible: !flags["no-reproducible"],
        verify: flags.verify ?? false,
        onNotice: (notice) => notices.push(notice),
        onProgress: (at) => progress.show(at),
        signal,
      })
    );
    await progress.end();
    if (result === INTERRUPTED) {
      await terminal.stderr("Interrupted: nothing was written\n");
      return 130;
    }
    await print(result, notices, { manifest, flags, terminal });
    return 0;
  } catch (error) {
    await progress.end();
    if (error instanceof InvalidManifestError) {
      await printFindings(manifest, error.findings, terminal);
    }
    throw error;
  }
}

const FLAGS = {
  target: "text",
  out: "text",
  bridge: "text",
  signature: "text",
  verify: "switch",
  "allow-unsigned": "switch",
  "no-reproducible": "switch",
  json: "switch",
} as const;

type Flags = ParsedFlags<typeof FLAGS>["flags"];

function parse(
  args: readonly string[],
): { readonly manifest: string; readonly flags: Flags } {
  const { flags, words } = parseFlags(args, FLAGS);
  const [manifest, ...more] = words;
  if (manifest === undefined || more.length > 0) {
    throw new UsageError("Give exactly one manifest");
  }
  return { manifest, flags };
}

interface Printing {
  readonly manifest: string;
  readonly flags: Flags;
  readonly terminal: Terminal;
}

async function print(
  result: PackResult,
  notices: readonly PackNotice[],
  { manifest, flags, terminal }: Printing,
): Promise<void> {
  for (const notice of notices) {
    if (notice.kind === "warnings") {
      await printFindings(manifest, notice.findings, terminal);
    } else {
      const text = noticeText(notice, result, manifest);
      await terminal.stderr(terminal.color ? bold(text) : text);
    }
  }
  if (flags["no-reproducible"]) {
    await terminal.stderr(
      "WARNING: not reproducible: for debugging only, doctor refuses it\n",
    );
  }
  await terminal.stderr(summary(result));
  if (flags.json) {
    await terminal.stdout(`${JSON.stringify(result, null, 2)}\n`);
  }
}

function bold(text: string): string {
  return `\x1b[33;1m${text.trimEnd()}\x1b[0m\n`;
}

function noticeText(
  notice: Exclude<PackNotice, { kind: "warnings" }>,
  { target }: PackResult,
  manifest: string,
): string {
  if (notice.kind === "left-out") {
    const shown = notice.paths.slice(0, 10).join(", ");
    const more = notice.paths.length > 10 ? " and more" : "";
    return `Left out, because the manifest does not declare it: ${shown}${more}\n`;
  }
  return `WARNING: the signature is not a valid one of this content: ${notice.reason}
  Doctor and every installer refuse this bundle. Sign it and pack again:
  cyberos-plugin sign ${manifest} --target ${target}
`;
}

const SIGNATURES: Readonly<Record<PackResult["signature"], string>> = {
  verified: "a valid one of this content",
  unverified: "NOT VERIFIED",
  unsigned: "NONE: to try out only",
};

function summary(result: PackResult): string {
  const { tools_count, commands_count, skills_count } = result;
  return `Packed ${result.bundle_path} for ${HOSTS[result.target].title}
  sha256     ${result.sha256}
  size       ${result.size_bytes} bytes
  content    ${tools_count} tools, ${commands_count} commands, ${skills_count} skills
  signature  ${SIGNATURES[result.signature]}
`;
}

async function printFindings(
  manifest: string,
  findings: InvalidManifestError["findings"],
  terminal: Terminal,
): Promise<void> {
  const { renderText } = await import("../validate_report/text.ts");
  const shown = { file: manifest, findings, truncated: false };
  await terminal.stderr(renderText([shown], terminal.color));
}

// Quick packs say nothing; long ones a line now and then.
const FIRST_MS = 1500;
const EVERY_MS = 2000;

class ProgressLine {
  readonly #terminal: Terminal;
  #next: number = performance.now() + FIRST_MS;
  #writing: Promise<void> = Promise.resolve();

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  show(progress: PackProgress): void {
    const now = performance.now();
    if (now < this.#next) return;
    this.#next = now + EVERY_MS;
    const text = progressText(progress);
    this.#writing = this.#writing.then(() => this.#terminal.stderr(text));
  }

  end(): Promise<void> {
    return this.#writing;
  }
}

function progressText(progress: PackProgress): string {
  const { phase, files, totalFiles, bytes, totalBytes } = progress;
  const mib = (size: number) => (size / 1048576).toFixed(1);
  return totalFiles === undefined || totalBytes === undefined
    ? `${phase}: ${files} files, ${mib(bytes)} MiB\n`
    : `${phase}: ${files} of ${totalFiles} files, ${mib(bytes)} of ${
      mib(totalBytes)
    } MiB\n`;
}
