/** The `cyberos-plugin` program: argv in, exit code out. */
import type { Command, Terminal } from "./packer/commands/command.ts";
import { UsageError } from "./packer/commands/command.ts";
import { PackerError } from "./packer/errors.ts";
import { VERSION } from "./schema/version.ts";

// Each command is imported on first use: `validate` must not pay for signing.
const COMMANDS: Readonly<
  Record<string, { summary: string; load(): Promise<Command> }>
> = {
  validate: {
    summary: "check a manifest and everything it names",
    load: async () => (await import("./packer/commands/validate.ts")).command,
  },
  pack: {
    summary: "write a reproducible bundle for a host",
    load: async () => (await import("./packer/commands/pack.ts")).command,
  },
  doctor: {
    summary: "examine a bundle from a stranger",
    load: async () => (await import("./packer/commands/doctor.ts")).command,
  },
  sign: {
    summary: "sign a manifest's content with Sigstore",
    load: async () => (await import("./packer/commands/sign.ts")).command,
  },
  rebuild: {
    summary: "pack the source again and compare it with a published bundle",
    load: async () => (await import("./packer/commands/rebuild.ts")).command,
  },
  init: {
    summary: "write a minimal valid manifest to start from",
    load: async () => (await import("./packer/commands/init.ts")).command,
  },
  schema: {
    summary: "print the manifest's JSON Schema",
    load: async () => (await import("./packer/commands/schema.ts")).command,
  },
};

const HELP =
  `cyberos-plugin ${VERSION}: validate, pack, sign and examine CyberOS plugin bundles

Usage: cyberos-plugin COMMAND [ARGUMENTS]

Commands:
${
    Object.entries(COMMANDS).map(([name, { summary }]) =>
      `  ${name.padEnd(10)}${summary}`
    ).join("\n")
  }

Options:
  --help      show this text; after a command, that command's own
  --version   show the version

Exit codes: 0 clean, 1 findings or a refusal, 2 wrong usage, 70 a bug in this program.
`;

/**
 * Runs the program.
 *
 * @param args What follows the program's name.
 * @returns The exit code.
 */
export async function runCli(
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  try {
    return await dispatch(args, terminal);
  } catch (error) {
    return await report(error, args[0] ?? "", terminal);
  }
}

async function dispatch(
  [name, ...rest]: readonly string[],
  terminal: Terminal,
): Promise<number> {
  if (name === "--help" || name === "-h" || name === "help") {
    await terminal.stdout(HELP);
    return 0;
  }
  if (name === "--version" || name === "-V") {
    await terminal.stdout(`cyberos-plugin ${VERSION}\n`);
    return 0;
  }
  const entry = name !== undefined && Object.hasOwn(COMMANDS, name)
    ? COMMANDS[name]
    : undefined;
  if (entry === undefined) {
    await terminal.stderr(
      name === undefined
        ? HELP
        : `Unknown command ${JSON.stringify(name)}\n\n${HELP}`,
    );
    return 2;
  }
  const command = await entry.load();
  if (rest.includes("--help") || rest.includes("-h")) {
    await terminal.stdout(command.help);
    return 0;
  }
  return await command.run(rest, terminal);
}

async function report(
  error: unknown,
  name: string,
  terminal: Terminal,
): Promise<number> {
  const { printable } = await import("./packer/validate_report/text.ts");
  const say = (...lines: readonly string[]) =>
    terminal.stderr(lines.map((line) => `${printable(line)}\n`).join(""));
  if (error instanceof UsageError) {
    await say(
      `cyberos-plugin ${name}: ${error.message}`,
      `See: cyberos-plugin ${name} --help`,
    );
    return 2;
  }
  if (error instanceof PackerError) {
    await say(
      `cyberos-plugin ${name}: ${error.name}: ${error.message}`,
      ...error.hint === undefined ? [] : [`  ${error.hint}`],
    );
    return 1;
  }
  const detail = error instanceof Error ? error.message : String(error);
  await say(
    `cyberos-plugin ${name}: internal error: ${detail}`,
    "  This is a bug; please report it with the command line.",
  );
  return 70;
}

/** The process's own terminal. */
export function processTerminal(): Terminal {
  let reader = true;
  return {
    // Whoever went away wants no more, and gets the exit code all the same.
    stdout: async (text) => {
      if (!reader) return;
      try {
        await writeAll(Deno.stdout, text);
      } catch (error) {
        reader = false;
        if (!(error instanceof Deno.errors.BrokenPipe)) throw untaken(error);
      }
    },
    // There is no other place to say that this one takes nothing.
    stderr: (text) => writeAll(Deno.stderr, text).catch(() => {}),
    stdin: readStdin,
    ask: async (question) => {
      await writeAll(Deno.stderr, question);
      return await readLine();
    },
    color: Deno.stderr.isTerminal() && !Deno.noColor,
    interactive: Deno.stdin.isTerminal(),
  };
}

async function writeAll(
  stream: { write(bytes: Uint8Array): Promise<number> },
  text: string,
): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    at += await stream.write(bytes.subarray(at));
  }
}

function untaken(cause: unknown): PackerError {
  const code = (cause as { code?: unknown } | null)?.code;
  const reason = typeof code === "string"
    ? `the system says ${code}`
    : "it failed";
  return new PackerError(
    "OUTPUT_UNWRITABLE",
    `Cannot write to standard output: ${reason}`,
    { cause },
  );
}

/** A terminal hands over one line at a time; byte by byte nothing of the next is lost. */
async function readLine(): Promise<string | undefined> {
  const bytes: number[] = [];
  const byte = new Uint8Array(1);
  while (bytes.length < 4096) {
    if (await Deno.stdin.read(byte) === null) {
      return bytes.length === 0 ? undefined : decodeLine(bytes);
    }
    if (byte[0] === 0x0a) break;
    bytes.push(byte[0] as number);
  }
  return decodeLine(bytes);
}

function decodeLine(bytes: readonly number[]): string {
  return new TextDecoder().decode(new Uint8Array(bytes)).replace(/\r$/, "");
}

async function readStdin(maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const buffer = new Uint8Array(65536);
  for (
    let n = await Deno.stdin.read(buffer);
    n !== null;
    n = await Deno.stdin.read(buffer)
  ) {
    size += n;
    if (size > maxBytes) {
      throw new UsageError(`Standard input is over ${maxBytes} bytes`);
    }
    chunks.push(buffer.slice(0, n));
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** Runs the program on the process's own arguments and terminal, and ends the process. */
export async function main(): Promise<never> {
  dropNetwork(Deno.args);
  Deno.exit(await runCli(Deno.args, processTerminal()));
}

/** Whom to ask is the caller's to say, so that no list of hosts can be granted; most commands ask nobody. */
function dropNetwork([command, ...rest]: readonly string[]): void {
  if (command !== "sign" && !rest.includes("--online")) {
    Deno.permissions.revokeSync({ name: "net" });
  }
}

if (import.meta.main) await main();
