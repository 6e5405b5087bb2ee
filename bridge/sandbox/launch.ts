/**
 * The launcher: a thread with the broad permissions that the command line gave,
 * whose only work is to start the bridge in a worker with exact ones.
 */
import type { BridgeConfig } from "../config/settings.ts";
import type {
  ExitMessage,
  LaunchMessage,
  StopMessage,
} from "./launch_message.ts";
import { createProcessService, isProcessRequest } from "./process_service.ts";
import type { SandboxPermissions } from "./permissions.ts";

/** Beyond the drain of HTTP: how long the bridge may take to end in good order. */
const GRACE_MS = 4000;

/** What {@link launch} takes. */
export interface Launch {
  /** The module that runs in the sandbox. */
  readonly entry: URL;
  readonly message: LaunchMessage;
  readonly permissions: SandboxPermissions;
}

/**
 * Runs the bridge in its sandbox. SIGINT, SIGTERM and SIGHUP ask it to end in
 * good order; a second one does not wait for that.
 *
 * @returns The exit code, once the worker has ended.
 */
export function launch(
  { entry, message, permissions }: Launch,
): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const processes = createProcessService();
  const worker = new Worker(entry, {
    type: "module",
    name: "cyberos-mcp-bridge",
    // deno-lint-ignore no-explicit-any -- the option is Deno's own and still outside its types.
    deno: { permissions } as any,
  } as WorkerOptions);
  worker.onmessage = ({ data }: MessageEvent<unknown>) => {
    // The worker is what the sandbox guards against: all that it can say is that it is
    // done, or that a child of this process is to be ended with all that it started.
    if (isExit(data)) resolve(data.code);
    else if (isProcessRequest(data)) {
      void processes(data).then((reply) => worker.postMessage(reply));
    }
  };
  worker.onerror = (event) => {
    event.preventDefault();
    complain(`the bridge ended with an error: ${event.message}`);
    resolve(70);
  };
  worker.postMessage(message);
  let stopping = false;
  const stop = (reason: string) => {
    if (stopping) return resolve(1);
    stopping = true;
    worker.postMessage({ type: "stop", reason } satisfies StopMessage);
    setTimeout(() => resolve(1), graceMs(message.config));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    onSignal(signal, stop);
  }
  return promise;
}

/** A host on stdio does not wait long; over HTTP the calls under way are finished first. */
function graceMs({ transport, drainTimeoutSeconds }: BridgeConfig): number {
  return GRACE_MS + (transport === "http" ? drainTimeoutSeconds * 1000 : 0);
}

function isExit(data: unknown): data is ExitMessage {
  const { type, code } = (data ?? {}) as Partial<ExitMessage>;
  return type === "exit" && Number.isInteger(code) && (code as number) >= 0 &&
    (code as number) <= 255;
}

function onSignal(signal: Deno.Signal, stop: (reason: string) => void): void {
  try {
    Deno.addSignalListener(signal, () => stop(signal));
  } catch {
    // Windows knows only some signals; the end of stdin is enough there.
  }
}

function complain(text: string): void {
  Deno.stderr.writeSync(
    new TextEncoder().encode(`cyberos-mcp-bridge: ${text}\n`),
  );
}
