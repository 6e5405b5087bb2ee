/** `cyberos-plugin init`: a valid manifest to start from. */
import { parseArgs } from "node:util";
import { validateManifest } from "../../schema/validate.ts";
import { reasonOf } from "../disk/read.ts";
import { PackerError } from "../errors.ts";
import type { StarterAnswers } from "../validate_report/starter.ts";
import {
  defaultDescription,
  starterManifest,
  titleOf,
} from "../validate_report/starter.ts";
import { renderText } from "../validate_report/text.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";

const HELP = `cyberos-plugin init: write a minimal valid manifest to start from

Usage: cyberos-plugin init [OPTIONS]

Asks for what the options leave open; with --yes, or without a keyboard and with
--id, it takes the defaults instead.

Options:
  --id ID             plugin id, such as acme-crm          default: my-plugin
  --name NAME         what hosts show                      default: from the id
  --description TEXT  60 to 480 characters                 default: a text to replace
  --author NAME                                            default: Your Name
  --license SPDX                                           default: Apache-2.0
  --target HOST       may be repeated                      default: claude-code
  --out FILE          - for standard output                default: ID@1.0.0.plugin.json
  --yes               ask nothing
  --force             replace a file that is there

Exit codes: 0 written, 1 the answers make no valid manifest or the file cannot be
written, 2 wrong usage.
`;

/** The subcommand. */
export const command: Command = {
  name: "init",
  summary: "write a minimal valid manifest to start from",
  help: HELP,
  run,
};

type Flags = ReturnType<typeof parse>["values"];

async function run(
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { values: flags, positionals } = parse(args);
  if (positionals.length > 0) {
    throw new UsageError(`Unexpected argument "${positionals[0]}"`);
  }
  const answers = await answersOf(flags, terminal);
  const text = `${JSON.stringify(starterManifest(answers), null, 2)}\n`;
  const out = flags.out ?? `${answers.id}@1.0.0.plugin.json`;
  const { findings, truncated } = await validateManifest(text);
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    const result = { file: out, findings: errors, truncated };
    await terminal.stderr(renderText([result], terminal.color));
    return 1;
  }
  if (out === "-") {
    await terminal.stdout(text);
    return 0;
  }
  await write(out, text, flags.force ?? false);
  await terminal.stderr(
    `Wrote ${out}\nNext: edit it, then run cyberos-plugin validate ${out}\n`,
  );
  return 0;
}

// deno-lint-ignore explicit-function-return-type explicit-module-boundary-types
function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        id: { type: "string" },
        name: { type: "string" },
        description: { type: "string" },
        author: { type: "string" },
        license: { type: "string" },
        target: { type: "string", multiple: true },
        out: { type: "string" },
        yes: { type: "boolean" },
        force: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new UsageError(
      error instanceof Error ? error.message : String(error),
    );
  }
}

async function answersOf(
  flags: Flags,
  terminal: Terminal,
): Promise<StarterAnswers> {
  const asks = !flags.yes && terminal.interactive &&
    terminal.ask !== undefined;
  if (!asks && !flags.yes && flags.id === undefined) {
    throw new UsageError("Give --id, or --yes to take every default");
  }
  const answer = async (
    given: string | undefined,
    question: string,
    fallback: string,
  ): Promise<string> => {
    if (given !== undefined || !asks) return given ?? fallback;
    const said = await terminal.ask?.(`${question} (${fallback}): `);
    return said === undefined || said.trim() === "" ? fallback : said.trim();
  };
  const id = await answer(flags.id, "Plugin id", "my-plugin");
  const name = await answer(flags.name, "Name", titleOf(id));
  return {
    id,
    name,
    description: await answer(
      flags.description,
      "Description, 60 to 480 characters",
      defaultDescription(name),
    ),
    author: await answer(flags.author, "Author", "Your Name"),
    license: await answer(flags.license, "SPDX licence", "Apache-2.0"),
    targets: flags.target ?? ["claude-code"],
  };
}

async function write(
  path: string,
  text: string,
  replace: boolean,
): Promise<void> {
  try {
    await Deno.writeTextFile(path, text, { createNew: !replace });
  } catch (cause) {
    const exists = cause instanceof Deno.errors.AlreadyExists;
    throw new PackerError(
      "OUTPUT_UNWRITABLE",
      exists
        ? `Cannot write "${path}": the file exists`
        : `Cannot write "${path}": ${reasonOf(cause)}`,
      {
        cause,
        hint: exists
          ? "Choose another --out, or replace it with --force"
          : "Name a file in a folder that exists and that you may write to",
      },
    );
  }
}
