/**
 * The CyberOS MCP bridge as a library: one `fetch` handler for `Deno.serve`,
 * `deno serve` and Deno Deploy.
 *
 * The program `cyberos-mcp-bridge` puts the same code into a sandbox; here the
 * permissions are those of the process that embeds it.
 *
 * @example Serve the HTTP bridge
 * ```ts
 * import { createBridge } from "@cyberos/plugin/bridge";
 *
 * const bridge = createBridge({
 *   config: {
 *     resourceUrl: "https://mcp.example.com/mcp",
 *     cuoEndpoint: "https://cuo.example.com",
 *     skillBrokerEndpoint: "https://skills.example.com",
 *     databaseUrl: Deno.env.get("CYBEROS_DATABASE_URL"),
 *   },
 * });
 * const server = Deno.serve({ port: 0 }, (request) => bridge.fetch(request));
 *
 * // At the end: no new connection, then what still runs.
 * await server.shutdown();
 * await bridge.close();
 * ```
 *
 * @module
 */
import { composeHttp } from "./compose/http.ts";
import { type BridgeConfig, defaultConfig } from "./config/settings.ts";
import { parsePostgresUrl } from "./store/postgres_url.ts";
import type { DependencyStatus } from "./types.ts";
import { dependencyStatuses } from "./compose/readiness.ts";

export type { BridgeConfig } from "./config/settings.ts";
export type { ListenAddress } from "./config/values.ts";
export type { LogLevel } from "./telemetry/log.ts";
export type { DependencyStatus } from "./types.ts";
export { BRIDGE_ERRORS, BridgeError } from "./errors.ts";
export type {
  BridgeErrorCode,
  BridgeErrorOptions,
  ErrorClass,
  ErrorRow,
} from "./errors.ts";
export type { JsonObject, JsonValue } from "../schema/json.ts";

/** What {@link createBridge} takes. */
export interface BridgeOptions {
  /** Over the defaults of the program; see `docs/configuration.md`. */
  readonly config: Partial<BridgeConfig>;
  /** OpenTelemetry's variables, such as `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly otel?: Readonly<Record<string, string>>;
  /** What a CUO child may see of the environment. */
  readonly childEnv?: Readonly<Record<string, string>>;
}

/** A bridge. */
export interface Bridge {
  /** Answers one request; never rejects. */
  fetch(request: Request): Promise<Response>;
  /** Whether what the bridge leans on works. Never rejects. */
  status(signal: AbortSignal): Promise<readonly DependencyStatus[]>;
  /** Ends running calls, tasks, children and connections. */
  close(): Promise<void>;
}

/**
 * Creates the HTTP bridge. Nothing is connected, read or started before a
 * request needs it.
 *
 * @throws {RangeError} For a browser origin or token algorithm that must not be allowed.
 * @throws {TypeError} For a database URL that cannot be read.
 */
export function createBridge(options: BridgeOptions): Bridge {
  const config: BridgeConfig = {
    ...defaultConfig(),
    transport: "http",
    ...options.config,
  };
  if (config.databaseUrl !== undefined) parsePostgresUrl(config.databaseUrl);
  const { bridge, handler, abort } = composeHttp({
    config,
    otelEnv: options.otel ?? {},
    childEnv: options.childEnv ?? {},
    cuoProgram: undefined,
    dataDir: config.dataDir,
    workDir: undefined,
  });
  return {
    fetch: (request) => handler(request),
    status: (signal) => dependencyStatuses(bridge, signal),
    async close() {
      abort();
      await bridge.close();
    },
  };
}
