/** Runs a page's commands as a reader would: in a fresh copy of the repository, in order, as written. */
import { commandsOf, type ShellBlock } from "./commands.ts";

/** Why a command is not run here: it needs something that a bare machine does not have. */
const ELSEWHERE: readonly (readonly [pattern: RegExp, needs: string])[] = [
  [/^(npx|npm) /, "the npm registry's own client"],
  [/jsr:@/, "the registry; tests/packaging runs it against a stand-in"],
  [/^(gh|cosign|tar|target=)\b|^sha256sum --check SHA256SUMS/, "a release"],
  [/^(claude|codex) /, "a host"],
  [/^(podman|docker|kubectl|helm) /, "a container engine"],
  [
    /^(psql|createdb|pg_\w+)\b|postgres:\/\/|^cyberos-mcp-bridge /,
    "a database",
  ],
  [/\bplugin sign\b|--online\b/, "Sigstore's public services"],
  [/^(apt-get|sudo|brew|winget) /, "a package manager"],
  [/^deno task compile/, "a compile runtime; tests/packaging compiles"],
  [/^deno task (test|ok|bench|chaos|conformance)\b/, "minutes; CI runs it"],
  [/^deno (install|publish|run -A)\b/, "the registry"],
];

/** What became of a command. */
export interface Outcome {
  readonly command: ShellBlock;
  /** Why it was not run. */
  readonly needs?: string;
  readonly code?: number;
  readonly output?: string;
}

/** Whether a command serves until it is stopped. */
function serves(text: string): boolean {
  return /--transport[= ]http\b/.test(text) && /\bbridge\b/.test(text) &&
    !/\b(check|health|token|migrate)\b/.test(text);
}

/** Runs every command of a page that can be run here. */
export async function runPage(
  page: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const servers: Deno.ChildProcess[] = [];
  const variables: string[] = [];
  try {
    for (const command of commandsOf(page)) {
      const needs = ELSEWHERE.find(([pattern]) => pattern.test(command.text))
        ?.[1];
      if (needs !== undefined) {
        outcomes.push({ command, needs });
      } else if (serves(command.text)) {
        servers.push(await startServer(command.text, cwd, env));
        outcomes.push({ command, code: 0, output: "" });
      } else {
        outcomes.push(await runOne(command, variables, { cwd, env }));
        if (/^\w+=/.test(command.text)) variables.push(command.text);
      }
    }
  } finally {
    for (const server of servers) await stop(server);
  }
  return outcomes;
}

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

function shell(text: string, { cwd, env }: Place): Deno.Command {
  return new Deno.Command("sh", {
    args: ["-euc", text],
    cwd,
    clearEnv: true,
    env: { ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Assignments before it on the page are made again: each command has a shell of its own. */
async function runOne(
  command: ShellBlock,
  variables: readonly string[],
  place: Place,
): Promise<Outcome> {
  const text = [...variables, command.text].join("\n");
  const { code, stdout, stderr } = await shell(text, place).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { command, code, output: `${decode(stdout)}${decode(stderr)}` };
}

async function startServer(
  text: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Deno.ChildProcess> {
  const child = shell(`exec ${text}`, { cwd, env }).spawn();
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of child.stderr.values({ preventCancel: true })) {
    said += decoder.decode(chunk, { stream: true });
    if (/http:\/\/127\.0\.0\.1:\d+/.test(said)) return child;
  }
  throw new Error(`${text} ended: ${said}`);
}

async function stop(child: Deno.ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  await Promise.all([child.stdout.cancel(), child.stderr.cancel()]);
  await child.status;
}
