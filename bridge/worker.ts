/// <reference lib="webworker" />
/** The sandboxed side of `cyberos-mcp-bridge`: one worker, one command. */
import { serve } from "./commands/serve.ts";
import { createProcessClient } from "./sandbox/process_client.ts";
import type {
  ExitMessage,
  LaunchMessage,
  ProcessReply,
  StopMessage,
} from "./sandbox/launch_message.ts";
import type { ProcessTree } from "./upstream/cuo/process_tree.ts";

/** Runs a command until it is done or the signal aborts; gives the exit code. */
type Run = (
  message: LaunchMessage,
  signal: AbortSignal,
  processTree: ProcessTree,
) => Promise<number>;

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
const processes = createProcessClient((request) => self.postMessage(request));

// A bug in one call's afterlife must not end everybody else's: it is said, and the bridge lives.
self.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  complain(event.reason);
});
self.addEventListener("error", (event) => {
  event.preventDefault();
  complain(event.error ?? event.message);
});

type Incoming = LaunchMessage | StopMessage | ProcessReply;

self.onmessage = async (event: MessageEvent<Incoming>) => {
  const message = event.data;
  if (message.type === "processes") return processes.settle(message);
  if (message.type === "stop") {
    stop.abort(new DOMException(message.reason, "AbortError"));
    return;
  }
  let code = 70;
  try {
    const run = await COMMANDS[message.command]();
    code = await run(message, stop.signal, processes);
  } catch (error) {
    complain(error);
  }
  self.postMessage({ type: "exit", code } satisfies ExitMessage);
};

function complain(error: unknown): void {
  const text = error instanceof Error
    ? error.stack ?? error.message
    : String(error);
  const line = JSON.stringify({
    time: new Date().toISOString(),
    level: "error",
    event: "bridge.bug",
    detail: text.slice(0, 4000),
  });
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}
