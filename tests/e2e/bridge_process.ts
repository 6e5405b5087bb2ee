/** The bridge as its users start it: a process of its own, through the task's exact flags. */
// @ts-types="@modelcontextprotocol/sdk/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { fileURLToPath } from "node:url";

/** The repository's folder. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** Program and flags of `deno task bridge`, with the bridge's own arguments behind. */
export async function bridgeArgs(args: readonly string[]): Promise<string[]> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const words = (tasks.bridge.command as string).replaceAll("'", "").split(
    /\s+/,
  );
  return [...words.slice(1, -1), `${ROOT}bridge/main.ts`, ...args];
}

/** An environment with nothing of this machine's but what a program needs. */
export function cleanEnv(
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const kept = ["PATH", "HOME", "DENO_DIR"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), CYBEROS_LOG_LEVEL: "error", ...more };
}

/** A connected client, closed with `await using`. */
export interface ConnectedClient extends AsyncDisposable {
  readonly client: Client;
  /** The structured result of a tool. Throws the SDK's error when it was refused. */
  call(
    name: string,
    args?: Record<string, unknown>,
    meta?: Record<string, unknown>,
  ): Promise<Record<string, unknown>>;
}

/** Starts the bridge and initializes a session with the SDK's own client. */
export async function connect(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ConnectedClient> {
  const transport = new StdioClientTransport({
    command: Deno.execPath(),
    args: await bridgeArgs(args),
    env: cleanEnv(env),
    stderr: "inherit",
  });
  const client = new Client({ name: "e2e", version: "1.0.0" });
  await client.connect(transport);
  return {
    client,
    async call(name, callArgs = {}, meta) {
      const result = await client.callTool({
        name,
        arguments: callArgs,
        ...(meta === undefined ? {} : { _meta: meta }),
      });
      return result.structuredContent as Record<string, unknown>;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Runs the bridge to its end. */
export async function runBridge(
  args: readonly string[],
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly stdin?: string;
  } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: await bridgeArgs(args),
    clearEnv: true,
    env: cleanEnv(options.env),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  if (options.stdin !== undefined) {
    await writer.write(new TextEncoder().encode(options.stdin));
  }
  await writer.close().catch(() => {});
  const { code, stdout, stderr } = await child.output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
