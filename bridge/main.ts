/** The `cyberos-mcp-bridge` program: reads the command line, then runs the bridge in its sandbox. */
import { VERSION } from "../schema/version.ts";
import { programHelp } from "./commands/help.ts";
import { type ConfigProblem, loadConfig } from "./config/load.ts";
import { prepare } from "./sandbox/prepare.ts";
import { launch } from "./sandbox/launch.ts";
import type { BridgeCommand } from "./sandbox/launch_message.ts";

/** The sandboxed side. The compile script finds workers by this very form of URL. */
const WORKER = new URL("./worker.ts", import.meta.url);

const COMMANDS: readonly string[] = [
  "serve",
  "migrate",
  "token",
  "reset",
  "check",
  "health",
];

/** Flags of a subcommand's own, which the table of settings does not know. */
const OWN_FLAGS: Readonly<Partial<Record<BridgeCommand, RegExp>>> = {
  migrate: /^--(dry-run|json)$/,
  token: /^--(scope|tenant|subject|expires)(=|$)/,
  reset: /^--(yes)$/,
  check: /^--(json)$/,
};

function write(
  stream: { writeSync(bytes: Uint8Array): number },
  text: string,
): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) {
    at += stream.writeSync(bytes.subarray(at));
  }
}

function splitArgs(
  command: BridgeCommand,
  args: readonly string[],
): { own: string[]; settings: string[] } {
  const own: string[] = [];
  const settings: string[] = [];
  const pattern = OWN_FLAGS[command];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (!pattern?.test(arg)) {
      settings.push(arg);
      continue;
    }
    own.push(arg);
    const takesValue = command === "token" && !arg.includes("=");
    if (takesValue && at + 1 < args.length) own.push(args[++at] as string);
  }
  return { own, settings };
}

/** A host on stdio hides stderr, so wrong values there surface in each call's hint instead. */
function fatal(
  command: BridgeCommand,
  transport: string,
  problem: ConfigProblem,
): boolean {
  return problem.source === "flag" || command !== "serve" ||
    transport === "http";
}

function env(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    // Not granted on the command line: unset, as far as the bridge goes.
    return undefined;
  }
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h") || args[0] === "help") {
    write(Deno.stdout, programHelp());
    return 0;
  }
  if (args[0] === "--version" || args[0] === "-V") {
    write(Deno.stdout, `cyberos-mcp-bridge ${VERSION}\n`);
    return 0;
  }
  const named = args[0] !== undefined && !args[0].startsWith("-");
  const word = named ? args[0] as string : "serve";
  if (!COMMANDS.includes(word)) {
    write(
      Deno.stderr,
      `Unknown command "${word}"; see cyberos-mcp-bridge --help\n`,
    );
    return 2;
  }
  const command = word as BridgeCommand;
  const { own, settings } = splitArgs(command, named ? args.slice(1) : args);
  const loaded = loadConfig({
    args: settings,
    env,
    readTextFile: Deno.readTextFileSync,
  });
  const prepared = prepare({ command, args: own, loaded, env });
  const stop = prepared.message.problems.filter((one) =>
    fatal(command, loaded.config.transport, one)
  );
  if (stop.length > 0) {
    prepared.cleanUp();
    const lines = stop.map(({ name, message }) => `  ${name}: ${message}`).join(
      "\n",
    );
    write(Deno.stderr, `cyberos-mcp-bridge cannot start:\n${lines}\n`);
    return 2;
  }
  for (const lack of prepared.withheld) {
    write(
      Deno.stderr,
      `cyberos-mcp-bridge: no permission for ${lack}; going on without\n`,
    );
  }
  try {
    return await launch({ ...prepared, entry: WORKER });
  } finally {
    prepared.cleanUp();
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
