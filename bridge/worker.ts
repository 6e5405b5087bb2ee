/// <reference lib="webworker" />
/** The sandboxed side of `cyberos-mcp-bridge`: one worker, one command. */
import { serve } from "./commands/serve.ts";
import type {
  ExitMessage,
  LaunchMessage,
  StopMessage,
} from "./sandbox/launch_message.ts";

/** Runs a command until it is done or the signal aborts; gives the exit code. */
type Run = (message: LaunchMessage, signal: AbortSignal) => Promise<number>;

// A host waits for `serve`; the others may load when they are asked for.
const COMMANDS: Readonly<Record<LaunchMessage["command"], () => Promise<Run>>> =
  {
    serve: () => Promise.resolve(serve),
    check: async () => (await import("./commands/check.ts")).check,
    migrate: async () => (await import("./commands/migrate.ts")).migrate,
    token: async () => (await import("./commands/token.ts")).token,
    reset: async () => (await import("./commands/reset.ts")).reset,
    health: async () => (await import("./commands/health.ts")).health,
  };

const stop = new AbortController();

self.onmessage = async (event: MessageEvent<LaunchMessage | StopMessage>) => {
  const message = event.data;
  if (message.type === "stop") {
    stop.abort(new DOMException(message.reason, "AbortError"));
    return;
  }
  let code = 70;
  try {
    const run = await COMMANDS[message.command]();
    code = await run(message, stop.signal);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    Deno.stderr.writeSync(
      new TextEncoder().encode(`cyberos-mcp-bridge: ${text}\n`),
    );
  }
  self.postMessage({ type: "exit", code } satisfies ExitMessage);
};
