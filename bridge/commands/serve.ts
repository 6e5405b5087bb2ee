/** Serves MCP until the host leaves or the process is told to stop. */
import { stdioPrincipal } from "../compose/identity.ts";
import { compose, type ComposeOptions } from "../compose/mod.ts";
import type { ConfigProblem } from "../config/load.ts";
import { BridgeError } from "../errors.ts";
import type { ProcessTree } from "../upstream/cuo/process_tree.ts";
import type { LaunchMessage } from "../sandbox/launch_message.ts";
import { serveStdio } from "../transports/stdio.ts";
import { processStreams } from "../transports/stdio_streams.ts";
import type { Principal } from "../types.ts";

/** Runs the transport that is configured; gives the exit code. */
export async function serve(
  message: LaunchMessage,
  signal: AbortSignal,
  processTree?: ProcessTree,
): Promise<number> {
  if (message.config.transport === "http") {
    const { serveHttpCommand } = await import("./serve_http.ts");
    return await serveHttpCommand(message, signal, processTree);
  }
  const bridge = compose(composeOptions(message, processTree));
  const caller = stdioPrincipal(message.config, bridge.identity.authenticator);
  bridge.log.info("bridge.started", {
    transport: "stdio",
    embedded: message.config.embedded,
  });
  await serveStdio(bridge.protocol, {
    ...processStreams(),
    signal,
    authenticate: () => wellConfigured(message.problems, caller),
    log: bridge.log,
    maxLineBytes: message.config.maxMessageBytes,
    maxInFlight: message.config.maxConcurrentCalls,
  });
  await bridge.close();
  return 0;
}

/** What the launcher found out, as the composition takes it. */
export function composeOptions(
  message: LaunchMessage,
  processTree?: ProcessTree,
): ComposeOptions {
  const { config, otelEnv, childEnv, cuoProgram, dataDir, workDir } = message;
  return {
    config,
    otelEnv,
    childEnv,
    cuoProgram,
    dataDir,
    workDir,
    ...(processTree === undefined ? {} : { processTree }),
  };
}

/** A host hides stderr: what is wrong with the configuration is said in the call's answer. */
async function wellConfigured(
  problems: readonly ConfigProblem[],
  caller: () => Promise<Principal>,
): Promise<Principal> {
  if (problems.length === 0) return await caller();
  throw new BridgeError(
    "UPSTREAM_NOT_CONFIGURED",
    "The bridge's configuration has a wrong value",
    {
      hint: `Correct it and start the server again: ${
        problems.map(({ name, message }) => `${name}: ${message}`).join("; ")
      }`.slice(0, 1000),
    },
  );
}
