/** `cyberos-plugin rebuild`: was this bundle made from this source? */
import { InvalidManifestError } from "../errors.ts";
import { rebuild, type RebuildResult } from "../rebuild.ts";
import { TARGETS } from "../types.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";
import { parseFlags } from "./flags.ts";
import { INTERRUPTED, interruptible } from "./interrupt.ts";

const HELP =
  `cyberos-plugin rebuild: pack the source again and compare it with a published bundle

Usage: cyberos-plugin rebuild --manifest MANIFEST BUNDLE [OPTIONS]

Takes the signature from BUNDLE, packs the source with it, and says whether the
bytes are equal; if not, which entry differs first and how. Nothing is written.

Options:
  --manifest FILE   the source's <id>@<version>.plugin.json
  --target HOST     ${TARGETS.join(", ")}; seen from the bundle unless given
  --bridge FILE     the compiled bridge that the bundle takes along
  --json            print the result as JSON on stdout

Exit codes:
  0    the bytes are equal
  1    they are not, or the source or the bundle is refused
  2    wrong usage
  70   a bug in this program
  130  interrupted
`;

/** The subcommand. */
export const command: Command = {
  name: "rebuild",
  summary: "pack the source again and compare it with a published bundle",
  help: HELP,
  run,
};

async function run(
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { bundle, manifest, target, bridge, json } = parse(args);
  try {
    const result = await interruptible((signal) =>
      rebuild(bundle, {
        manifest,
        ...(target !== undefined && { target }),
        ...(bridge !== undefined && { bridge }),
        signal,
      })
    );
    if (result === INTERRUPTED) return 130;
    await terminal.stderr(text(bundle, result));
    if (json) await terminal.stdout(`${JSON.stringify(result, null, 2)}\n`);
    return result.equal ? 0 : 1;
  } catch (error) {
    if (error instanceof InvalidManifestError) {
      const { renderText } = await import("../validate_report/text.ts");
      const { findings } = error;
      const shown = { file: manifest, findings, truncated: false };
      await terminal.stderr(renderText([shown], terminal.color));
    }
    throw error;
  }
}

const FLAGS = {
  manifest: "text",
  target: "text",
  bridge: "text",
  json: "switch",
} as const;

function parse(args: readonly string[]) {
  const { flags, words } = parseFlags(args, FLAGS);
  const [bundle, ...more] = words;
  if (bundle === undefined || more.length > 0) {
    throw new UsageError("Give exactly one bundle");
  }
  const { manifest, target, bridge, json } = flags;
  if (manifest === undefined) {
    throw new UsageError("Give the source's manifest by --manifest");
  }
  return { bundle, manifest, target, bridge, json: json ?? false };
}

function text(bundle: string, result: RebuildResult): string {
  const { equal, difference, differences, target } = result;
  const hashes = `  bundle   ${result.bundle_sha256}
  rebuilt  ${result.rebuilt_sha256}
`;
  if (equal) return `Equal: ${bundle} was made from this source\n${hashes}`;
  const reason = difference === undefined
    ? "All entries are equal, but the archive around them is not: another packer wrote it"
    : difference.message;
  const more = differences > 1
    ? `  ${differences} entries differ in all\n`
    : "";
  return `Not equal: packing this source for ${target} gives other bytes
  ${reason}
${more}${hashes}`;
}
