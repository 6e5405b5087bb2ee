/** Runs a page's commands as a reader would: in a fresh copy of the repository, in order, as written. */
import { commandsOf, type ShellBlock } from "./commands.ts";

/** Why a command is not run here: it needs something that a bare machine does not have. */
const ELSEWHERE: readonly (readonly [pattern: RegExp, needs: string])[] = [
  [/^(npx|npm) /, "the npm registry's own client"],
  [/\bnpm:@|\s&$/, "a package that is no dependency"],
  [/jsr:@/, "the registry; tests/packaging runs it against a stand-in"],
  [/^(gh|cosign|tar|target=)|^sha256sum --check SHA256SUMS/, "a release"],
  [/^(claude|codex) /, "a host"],
  [/^(podman|docker|kubectl|helm) /, "a container engine"],
  [
    /^(psql|createdb)\b|postgres:\/\/|^cyberos-mcp-bridge (migrate|--transport http)/,
    "a database",
  ],
  [/\bplugin sign\b|--online\b|--verify\b/, "Sigstore's public services"],
  [/^cyberos-mcp-bridge check$/, "an installation of CyberOS"],
  [/^(apt-get|sudo|brew|winget) /, "a package manager"],
  [/^deno task compile/, "a compile runtime; tests/packaging compiles"],
  [/^deno task (test|ok|bench|chaos|conformance)\b/, "minutes; CI runs it"],
  [/^deno (install|publish)\b/, "the registry"],
];

/** A reader would have given up. */
const LONGEST_MS = 90_000;

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
  place: Place,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const servers: Deno.ChildProcess[] = [];
  const variables: string[] = [];
  try {
    for (const command of commandsOf(page)) {
      const needs = await whatItNeeds(command.text, place);
      if (needs !== undefined) {
        outcomes.push({ command, needs });
      } else if (place.worked.has(command.text)) {
        outcomes.push({ command, code: 0, output: "" });
      } else if (serves(command.text)) {
        servers.push(await startServer(command.text, place));
        outcomes.push({ command, code: 0, output: "" });
      } else {
        outcomes.push(await runOne(command, variables, place));
        if (/^\w+=/.test(command.text)) variables.push(command.text);
        else if (outcomes.at(-1)?.code === 0) place.worked.add(command.text);
      }
    }
  } finally {
    for (const server of servers) await stop(server);
  }
  return outcomes;
}

/** Where commands are run. */
export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Stands in for the pages' 8082, which may be taken here. */
  readonly port: number;
  /** What has already worked here is not run again. */
  readonly worked: Set<string>;
}

async function whatItNeeds(
  text: string,
  place: Place,
): Promise<string | undefined> {
  const known = ELSEWHERE.find(([pattern]) => pattern.test(text))?.[1];
  const program = /^([\w-]+)(?!\w*=)\b/.exec(text)?.[1];
  if (known !== undefined || program === undefined) return known;
  const { success } = await shell(`command -v ${program}`, place).output();
  return success ? undefined : `the program ${program}`;
}

function shell(text: string, { cwd, env, port }: Place): Deno.Command {
  return new Deno.Command("sh", {
    args: ["-euc", text.replaceAll(":8082", `:${port}`)],
    cwd,
    clearEnv: true,
    env: { ...env, CYBEROS_LISTEN: `127.0.0.1:${port}` },
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
  const child = shell(text, place).spawn();
  const late = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS);
  const { code, stdout, stderr } = await child.output();
  clearTimeout(late);
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { command, code, output: `${decode(stdout)}${decode(stderr)}` };
}

async function startServer(
  text: string,
  place: Place,
): Promise<Deno.ChildProcess> {
  const child = shell(`exec ${text}`, place).spawn();
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
