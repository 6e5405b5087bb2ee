/** Serves MCP over HTTP until the process is told to stop. */
import { ALL_SCOPES } from "../../schema/tools.ts";
import { EMBEDDED_SUBJECT, EMBEDDED_TENANT } from "../compose/identity.ts";
import { composeHttp } from "../compose/http.ts";
import type { Composition } from "../compose/mod.ts";
import { isLoopback } from "../config/values.ts";
import type { ProcessTree } from "../upstream/cuo/process_tree.ts";
import type { LaunchMessage } from "../sandbox/launch_message.ts";
import {
  type HttpServer,
  serveHttp,
  type ServeHttpOptions,
} from "../transports/http/serve.ts";
import { print } from "./own_flags.ts";
import { composeOptions } from "./serve.ts";

const TOKEN_SECONDS = 12 * 3600;
const STORE_CHECK_MS = 5000;

/** Gives the exit code: 2 when the configuration lacks something. */
export async function serveHttpCommand(
  message: LaunchMessage,
  signal: AbortSignal,
  processTree?: ProcessTree,
): Promise<number> {
  const { config } = message;
  const missing = missingForHttp(message);
  if (missing.length > 0) {
    print("stderr", "cyberos-mcp-bridge cannot serve http:");
    for (const line of missing) print("stderr", `  ${line}`);
    return 2;
  }
  // Known once the port is.
  const ownUrls: string[] = [];
  const { bridge, handler, abort } = composeHttp({
    ...composeOptions(message, processTree),
    resourceUrls: () => ownUrls,
  });
  const unsafe = await unsafeStore(bridge);
  if (unsafe !== undefined) {
    print("stderr", `cyberos-mcp-bridge does not serve http: ${unsafe}`);
    await bridge.close();
    return 2;
  }
  const server = listen({
    listen: config.listen,
    handler,
    signal,
    log: bridge.log,
    limits: {
      maxConnections: config.maxConnections,
      idleTimeoutMs: config.idleTimeoutSeconds * 1000,
      drainTimeoutMs: config.drainTimeoutSeconds * 1000,
    },
    onDrained: abort,
  });
  if (server === undefined) {
    await bridge.close();
    return 1;
  }
  const ownUrl = `http://${hostOf(server.hostname)}:${server.port}/mcp`;
  ownUrls.push(ownUrl);
  bridge.log.info("bridge.started", {
    transport: "http",
    url: ownUrl,
    embedded: config.embedded,
  });
  if (config.embedded) await printToken(bridge, ownUrl);
  await server.finished;
  await bridge.close();
  return 0;
}

/**
 * Why the task store must not be used, if it must not (decision D8). One that is
 * away is no reason: the rest works, and it comes back by itself (decision D9).
 */
async function unsafeStore(bridge: Composition): Promise<string | undefined> {
  if (bridge.config.embedded) return undefined;
  const tasks = await bridge.tasks();
  const status = await tasks.status(AbortSignal.timeout(STORE_CHECK_MS));
  return status.unsafe ? status.detail : undefined;
}

/** Listens, or says why it cannot. */
function listen(options: ServeHttpOptions): HttpServer | undefined {
  try {
    return serveHttp(options);
  } catch (error) {
    const { hostname, port } = options.listen;
    const reason = error instanceof Deno.errors.AddrInUse
      ? "another program has the port; choose another with --listen"
      : error instanceof Deno.errors.AddrNotAvailable
      ? "this machine has no such address; name one of its own with --listen"
      : error instanceof Deno.errors.PermissionDenied
      ? "the system does not permit it; ports below 1024 need a privilege"
      : error instanceof Error
      ? error.message
      : String(error);
    print(
      "stderr",
      `cyberos-mcp-bridge cannot listen on ${
        hostOf(hostname)
      }:${port}: ${reason}`,
    );
    return undefined;
  }
}

/** An operator is told everything that is missing at once (decision D11). */
function missingForHttp({ config, cuoProgram }: LaunchMessage): string[] {
  if (config.embedded) return [];
  const missing: string[] = [];
  if (config.databaseUrl === undefined) {
    missing.push("CYBEROS_DATABASE_URL: the task store; see docs/database.md");
  }
  if (cuoProgram === undefined && config.cuoEndpoint === undefined) {
    missing.push(
      `CYBEROS_CUO: there is no program "${config.cuo}" on PATH; install CUO or set CUO_ENDPOINT`,
    );
  }
  if (
    config.skillBrokerEndpoint === undefined &&
    config.skillsDir === undefined &&
    config.cyberosRoot === undefined
  ) {
    missing.push(
      "SKILL_BROKER_ENDPOINT, CYBEROS_SKILLS_DIR or CYBEROS_ROOT: where skills are",
    );
  }
  const loopback = isLoopback(hostOf(config.listen.hostname));
  if (config.resourceUrl === undefined && !loopback) {
    missing.push(
      "CYBEROS_RESOURCE_URL: the public URL of /mcp, which clients are told",
    );
  }
  return missing;
}

async function printToken(bridge: Composition, url: string): Promise<void> {
  const token = await bridge.identity.localIssuer?.mintAccessToken({
    subject: EMBEDDED_SUBJECT,
    tenantId: EMBEDDED_TENANT,
    scopes: ALL_SCOPES,
    expiresInSeconds: TOKEN_SECONDS,
  });
  print("stderr", `Serving ${url}\nToken for 12 hours, every scope:\n${token}`);
}

function hostOf(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
