/**
 * Every setting of the bridge: its names, its kind, its default and what it is
 * for. Parsing, `--help`, `docs/configuration.md` and `check` come from here.
 */
import type { LogLevel } from "../telemetry/log.ts";
import { LOG_LEVELS } from "../telemetry/log.ts";
import {
  choice,
  HTTP_URL,
  integer,
  ISSUER,
  JWT_ALGORITHM,
  list,
  LISTEN,
  type ListenAddress,
  ORIGIN,
  POSTGRES_URL,
  SWITCH,
  text,
  type ValueKind,
  VARIABLE,
} from "./values.ts";

/** The bridge's configuration, every value checked. */
export interface BridgeConfig {
  /** stdio for a host on this machine, http for an operator's server. */
  readonly transport: "stdio" | "http";
  /** Where http listens. Beyond loopback, put TLS in front. */
  readonly listen: ListenAddress;
  /** A browser origin that may call; repeat the flag for more. */
  readonly corsOrigins: readonly string[];
  /** Another Host header to accept, without port; repeat the flag for more. */
  readonly allowedHosts: readonly string[];
  /** Refuse clients that ask for another published MCP revision, instead of answering 2025-11-25. */
  readonly protocolStrict: boolean;
  /** Run everything in this process: catalogue, memory, task store and token issuer. Loopback only. */
  readonly embedded: boolean;
  /** With --embedded: keep nothing on disk. */
  readonly ephemeral: boolean;
  /** With --embedded: where the data is kept. Several bridges may share it. */
  readonly dataDir: string | undefined;
  /** The issuer that access tokens must name, byte for byte. */
  readonly authIssuer: string;
  /** Where the issuer's public keys are. */
  readonly jwksUrl: string | undefined;
  /** Signature algorithms to accept. */
  readonly jwtAlgorithms: readonly string[];
  /** How far the issuer's clock may be off. */
  readonly clockSkewSeconds: number;
  /** Tokens must have the audience plugin:ID or the resource URL. */
  readonly pluginId: string;
  /** The public URL of /mcp, as clients see it (RFC 9728). */
  readonly resourceUrl: string | undefined;
  /** stdio: a file with the access token, read for each call so that it can be renewed. */
  readonly tokenFile: string | undefined;
  /** stdio: the access token itself, where there is no file. */
  readonly accessToken: string | undefined;
  /** PostgreSQL, as the bridge's own role (no superuser, no owner). */
  readonly databaseUrl: string | undefined;
  /** PostgreSQL, as the owner of the schema: for the migrate command only. */
  readonly ownerDatabaseUrl: string | undefined;
  /** Connections to PostgreSQL, besides one that listens. */
  readonly databasePoolSize: number;
  /** The CUO program: a name on PATH or an absolute path. */
  readonly cuo: string;
  /** How to speak to it; auto tries JSON-RPC once. */
  readonly cuoProtocol: "auto" | "jsonrpc" | "cli";
  /** CUO over HTTP JSON-RPC, where there are no child processes; wins over --cuo. */
  readonly cuoEndpoint: string | undefined;
  /** The bridge's own credential for CUO over HTTP. */
  readonly cuoToken: string | undefined;
  /** More variables for the CUO program, by name, such as a model's API key. */
  readonly cuoEnv: readonly string[];
  /** A CyberOS checkout: CUO's catalogue, and its skills folder. */
  readonly cyberosRoot: string | undefined;
  /** The audit memory service. */
  readonly memoryEndpoint: string;
  /** The bridge's own credential for the memory service. */
  readonly memoryToken: string | undefined;
  /** The skill broker; without it skills are read from a folder. */
  readonly skillBrokerEndpoint: string | undefined;
  /** The bridge's own credential for the skill broker. */
  readonly skillBrokerToken: string | undefined;
  /** A folder of skills, one folder each with a SKILL.md. */
  readonly skillsDir: string | undefined;
  /** How long a silent instance keeps its tasks; the heartbeat is a third of it. */
  readonly taskLeaseSeconds: number;
  /** Running tasks of one subject. */
  readonly maxTasksPerSubject: number;
  /** Running tasks of one tenant. */
  readonly maxTasksPerTenant: number;
  /** The largest message taken, on either transport. */
  readonly maxMessageBytes: number;
  /** Calls at one time in all. */
  readonly maxConcurrentCalls: number;
  /** http: calls at one time of one tenant. */
  readonly maxConcurrentCallsPerTenant: number;
  /** http: calls per second of one subject; twice as many in one burst. */
  readonly callsPerSecond: number;
  /** http: the URL and headers of one request. */
  readonly maxHeaderBytes: number;
  /** http: how deep a message may nest. */
  readonly maxJsonDepth: number;
  /** http: how long a message may take to arrive. */
  readonly bodyTimeoutSeconds: number;
  /** http: open connections; one more is turned away with 503. */
  readonly maxConnections: number;
  /** http: how long a connection may be without a whole request, before it is closed. */
  readonly idleTimeoutSeconds: number;
  /** http: how long answers under way may take once the bridge stops. */
  readonly drainTimeoutSeconds: number;
  /** Tokens whose signature is not computed again; 0 computes each. What a token says is judged anew every time. */
  readonly maxRememberedSignatures: number;
  /** What is written to stderr, as JSON lines. */
  readonly logLevel: LogLevel;
}

/** One row of the table. */
export interface Setting<T> {
  readonly group: string;
  /** Without the dashes; absent where a value must not stand in a process list. */
  readonly flag?: string;
  readonly env?: string;
  readonly kind: ValueKind<NonNullable<T>>;
  readonly fallback: T;
  /** Shown where `fallback` needs words. */
  readonly fallbackText?: string;
  readonly help: string;
  /** Never shown by `check`, and never taken from a flag. */
  readonly secret?: true;
}

/** The table of settings. */
export const SETTINGS: {
  readonly [Key in keyof BridgeConfig]: Setting<BridgeConfig[Key]>;
} = {
  transport: {
    group: "Transport",
    flag: "transport",
    env: "CYBEROS_TRANSPORT",
    kind: choice(["stdio", "http"]),
    fallback: "stdio",
    help: "stdio for a host on this machine, http for an operator's server.",
  },
  listen: {
    group: "Transport",
    flag: "listen",
    env: "CYBEROS_LISTEN",
    kind: LISTEN,
    fallback: { hostname: "127.0.0.1", port: 8082 },
    fallbackText: "127.0.0.1:8082",
    help: "Where http listens. Beyond loopback, put TLS in front.",
  },
  corsOrigins: {
    group: "Transport",
    flag: "cors-origin",
    env: "CYBEROS_CORS_ORIGINS",
    kind: list(ORIGIN),
    fallback: [],
    fallbackText: "none: every browser origin is refused",
    help: "A browser origin that may call; repeat the flag for more.",
  },
  allowedHosts: {
    group: "Transport",
    flag: "allowed-host",
    env: "CYBEROS_ALLOWED_HOSTS",
    kind: list(text("HOST")),
    fallback: [],
    fallbackText:
      "loopback names, the listen address and the resource URL's host",
    help:
      "Another Host header to accept, without port; repeat the flag for more.",
  },
  protocolStrict: {
    group: "Transport",
    flag: "protocol-strict",
    env: "CYBEROS_PROTOCOL_STRICT",
    kind: SWITCH,
    fallback: false,
    help:
      "Refuse clients that ask for another published MCP revision, instead of answering 2025-11-25.",
  },
  embedded: {
    group: "Embedded",
    flag: "embedded",
    env: "CYBEROS_EMBEDDED",
    kind: SWITCH,
    fallback: false,
    help:
      "Run everything in this process: catalogue, memory, task store and token issuer. Loopback only.",
  },
  ephemeral: {
    group: "Embedded",
    flag: "ephemeral",
    env: "CYBEROS_EPHEMERAL",
    kind: SWITCH,
    fallback: false,
    help: "With --embedded: keep nothing on disk.",
  },
  dataDir: {
    group: "Embedded",
    flag: "data-dir",
    env: "CYBEROS_DATA_DIR",
    kind: text("DIR"),
    fallback: undefined,
    fallbackText: "cyberos in the platform's data folder",
    help:
      "With --embedded: where the data is kept. Several bridges may share it.",
  },
  authIssuer: {
    group: "Identity",
    flag: "auth-issuer",
    env: "CYBEROS_AUTH_ISSUER",
    kind: ISSUER,
    fallback: "https://auth.cyberskill.world",
    help: "The issuer that access tokens must name, byte for byte.",
  },
  jwksUrl: {
    group: "Identity",
    flag: "jwks-url",
    env: "CYBEROS_JWKS_URL",
    kind: HTTP_URL,
    fallback: undefined,
    fallbackText: "the issuer's /.well-known/jwks.json",
    help: "Where the issuer's public keys are.",
  },
  jwtAlgorithms: {
    group: "Identity",
    flag: "jwt-algorithms",
    env: "CYBEROS_JWT_ALGORITHMS",
    kind: list(JWT_ALGORITHM),
    fallback: ["RS256"],
    help: "Signature algorithms to accept.",
  },
  clockSkewSeconds: {
    group: "Identity",
    flag: "clock-skew-seconds",
    env: "CYBEROS_CLOCK_SKEW_SECONDS",
    kind: integer(0, 60),
    fallback: 30,
    help: "How far the issuer's clock may be off.",
  },
  pluginId: {
    group: "Identity",
    flag: "plugin-id",
    env: "CYBEROS_PLUGIN_ID",
    kind: text("ID"),
    fallback: "cyberos",
    help: "Tokens must have the audience plugin:ID or the resource URL.",
  },
  resourceUrl: {
    group: "Identity",
    flag: "resource-url",
    env: "CYBEROS_RESOURCE_URL",
    kind: HTTP_URL,
    fallback: undefined,
    fallbackText: "the request's own URL, on loopback only",
    help: "The public URL of /mcp, as clients see it (RFC 9728).",
  },
  tokenFile: {
    group: "Identity",
    env: "CYBEROS_TOKEN_FILE",
    kind: text("FILE"),
    fallback: undefined,
    help:
      "stdio: a file with the access token, read for each call so that it can be renewed.",
  },
  accessToken: {
    group: "Identity",
    env: "CYBEROS_ACCESS_TOKEN",
    kind: text("TOKEN"),
    fallback: undefined,
    secret: true,
    help: "stdio: the access token itself, where there is no file.",
  },
  databaseUrl: {
    group: "Tasks",
    flag: "database-url",
    env: "CYBEROS_DATABASE_URL",
    kind: POSTGRES_URL,
    fallback: undefined,
    secret: true,
    help: "PostgreSQL, as the bridge's own role (no superuser, no owner).",
  },
  ownerDatabaseUrl: {
    group: "Tasks",
    flag: "owner-database-url",
    env: "CYBEROS_OWNER_DATABASE_URL",
    kind: POSTGRES_URL,
    fallback: undefined,
    secret: true,
    help:
      "PostgreSQL, as the owner of the schema: for the migrate command only.",
  },
  databasePoolSize: {
    group: "Tasks",
    flag: "database-pool-size",
    env: "CYBEROS_DATABASE_POOL_SIZE",
    kind: integer(1, 200),
    fallback: 10,
    help: "Connections to PostgreSQL, besides one that listens.",
  },
  taskLeaseSeconds: {
    group: "Tasks",
    flag: "task-lease-seconds",
    env: "CYBEROS_TASK_LEASE_SECONDS",
    kind: integer(3, 3600),
    fallback: 15,
    help:
      "How long a silent instance keeps its tasks; the heartbeat is a third of it.",
  },
  maxTasksPerSubject: {
    group: "Tasks",
    flag: "max-tasks-per-subject",
    env: "CYBEROS_MAX_TASKS_PER_SUBJECT",
    kind: integer(1, 100_000),
    fallback: 20,
    help: "Running tasks of one subject.",
  },
  maxTasksPerTenant: {
    group: "Tasks",
    flag: "max-tasks-per-tenant",
    env: "CYBEROS_MAX_TASKS_PER_TENANT",
    kind: integer(1, 1_000_000),
    fallback: 200,
    help: "Running tasks of one tenant.",
  },
  cuo: {
    group: "Upstreams",
    flag: "cuo",
    env: "CYBEROS_CUO",
    kind: text("PROGRAM"),
    fallback: "cyberos-cuo",
    fallbackText: "cyberos-cuo on PATH",
    help: "The CUO program: a name on PATH or an absolute path.",
  },
  cuoProtocol: {
    group: "Upstreams",
    flag: "cuo-protocol",
    env: "CYBEROS_CUO_PROTOCOL",
    kind: choice(["auto", "jsonrpc", "cli"]),
    fallback: "auto",
    help: "How to speak to it; auto tries JSON-RPC once.",
  },
  cuoEndpoint: {
    group: "Upstreams",
    flag: "cuo-endpoint",
    env: "CUO_ENDPOINT",
    kind: HTTP_URL,
    fallback: undefined,
    help:
      "CUO over HTTP JSON-RPC, where there are no child processes; wins over --cuo.",
  },
  cuoToken: {
    group: "Upstreams",
    env: "CYBEROS_CUO_TOKEN",
    kind: text("TOKEN"),
    fallback: undefined,
    secret: true,
    help: "The bridge's own credential for CUO over HTTP.",
  },
  cuoEnv: {
    group: "Upstreams",
    flag: "cuo-env",
    env: "CYBEROS_CUO_ENV",
    kind: list(VARIABLE),
    fallback: [],
    fallbackText: "PATH, HOME, locale and time zone only",
    help:
      "More variables for the CUO program, by name, such as a model's API key. The value of NAME is read from CYBEROS_CUO_ENV_NAME, else from NAME where the bridge may read it.",
  },
  cyberosRoot: {
    group: "Upstreams",
    env: "CYBEROS_ROOT",
    kind: text("DIR"),
    fallback: undefined,
    help: "A CyberOS checkout: CUO's catalogue, and its skills folder.",
  },
  memoryEndpoint: {
    group: "Upstreams",
    flag: "memory-endpoint",
    env: "MEMORY_ENDPOINT",
    kind: HTTP_URL,
    fallback: "https://memory.cyberskill.world",
    help: "The audit memory service.",
  },
  memoryToken: {
    group: "Upstreams",
    env: "CYBEROS_MEMORY_TOKEN",
    kind: text("TOKEN"),
    fallback: undefined,
    secret: true,
    help: "The bridge's own credential for the memory service.",
  },
  skillBrokerEndpoint: {
    group: "Upstreams",
    flag: "skill-broker-endpoint",
    env: "SKILL_BROKER_ENDPOINT",
    kind: HTTP_URL,
    fallback: undefined,
    help: "The skill broker; without it skills are read from a folder.",
  },
  skillBrokerToken: {
    group: "Upstreams",
    env: "CYBEROS_SKILL_BROKER_TOKEN",
    kind: text("TOKEN"),
    fallback: undefined,
    secret: true,
    help: "The bridge's own credential for the skill broker.",
  },
  skillsDir: {
    group: "Upstreams",
    flag: "skills-dir",
    env: "CYBEROS_SKILLS_DIR",
    kind: text("DIR"),
    fallback: undefined,
    fallbackText: "skills in CYBEROS_ROOT",
    help: "A folder of skills, one folder each with a SKILL.md.",
  },
  maxMessageBytes: {
    group: "Limits",
    flag: "max-message-bytes",
    env: "CYBEROS_MAX_MESSAGE_BYTES",
    kind: integer(65_536, 104_857_600),
    fallback: 10_485_760,
    help: "The largest message taken, on either transport.",
  },
  maxConcurrentCalls: {
    group: "Limits",
    flag: "max-concurrent-calls",
    env: "CYBEROS_MAX_CONCURRENT_CALLS",
    kind: integer(1, 100_000),
    fallback: 256,
    help: "Calls at one time in all.",
  },
  maxConcurrentCallsPerTenant: {
    group: "Limits",
    flag: "max-concurrent-calls-per-tenant",
    env: "CYBEROS_MAX_CONCURRENT_CALLS_PER_TENANT",
    kind: integer(1, 100_000),
    fallback: 64,
    help: "http: calls at one time of one tenant.",
  },
  callsPerSecond: {
    group: "Limits",
    flag: "calls-per-second",
    env: "CYBEROS_CALLS_PER_SECOND",
    kind: integer(1, 1_000_000),
    fallback: 50,
    help: "http: calls per second of one subject; twice as many in one burst.",
  },
  maxHeaderBytes: {
    group: "Limits",
    flag: "max-header-bytes",
    env: "CYBEROS_MAX_HEADER_BYTES",
    kind: integer(4096, 65_536),
    fallback: 32_768,
    help: "http: the URL and headers of one request.",
  },
  maxJsonDepth: {
    group: "Limits",
    flag: "max-json-depth",
    env: "CYBEROS_MAX_JSON_DEPTH",
    kind: integer(8, 1000),
    fallback: 64,
    help: "http: how deep a message may nest.",
  },
  bodyTimeoutSeconds: {
    group: "Limits",
    flag: "body-timeout-seconds",
    env: "CYBEROS_BODY_TIMEOUT_SECONDS",
    kind: integer(1, 600),
    fallback: 15,
    help: "http: how long a message may take to arrive.",
  },
  maxConnections: {
    group: "Limits",
    flag: "max-connections",
    env: "CYBEROS_MAX_CONNECTIONS",
    kind: integer(1, 1_000_000),
    fallback: 10_000,
    help: "http: open connections; one more is turned away with 503.",
  },
  idleTimeoutSeconds: {
    group: "Limits",
    flag: "idle-timeout-seconds",
    env: "CYBEROS_IDLE_TIMEOUT_SECONDS",
    kind: integer(1, 3600),
    fallback: 60,
    help:
      "http: how long a connection may be without a whole request, before it is closed.",
  },
  drainTimeoutSeconds: {
    group: "Limits",
    flag: "drain-timeout-seconds",
    env: "CYBEROS_DRAIN_TIMEOUT_SECONDS",
    kind: integer(0, 600),
    fallback: 10,
    help: "http: how long answers under way may take once the bridge stops.",
  },
  maxRememberedSignatures: {
    group: "Limits",
    flag: "max-remembered-signatures",
    env: "CYBEROS_MAX_REMEMBERED_SIGNATURES",
    kind: integer(0, 1_000_000),
    fallback: 4096,
    help:
      "Tokens whose signature is not computed again; 0 computes each. What a token says is judged anew every time.",
  },
  logLevel: {
    group: "Log",
    flag: "log-level",
    env: "CYBEROS_LOG_LEVEL",
    kind: choice(LOG_LEVELS),
    fallback: "info",
    help: "What is written to stderr, as JSON lines.",
  },
};

/** The configuration when nobody sets anything. */
export function defaultConfig(): BridgeConfig {
  const entries = Object.entries(SETTINGS).map((
    [key, { fallback }],
  ) => [key, fallback]);
  return Object.fromEntries(entries) as BridgeConfig;
}
