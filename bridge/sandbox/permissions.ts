/** The exact permissions of the bridge's code, computed from its configuration. */
import type { BridgeConfig } from "../config/settings.ts";
import { endpointGrants } from "../store/local_endpoint.ts";
import { parsePostgresUrl } from "../store/postgres_url.ts";
import {
  PERSONA_FOLDERS,
  SKILL_FOLDERS,
} from "../upstream/common/checkout_layout.ts";
import type { BridgeCommand } from "./launch_message.ts";

/** A worker's permissions, each a closed list. */
export interface SandboxPermissions {
  /** `host:port`, as Deno compares them: textually. */
  readonly net: readonly string[];
  /** Absolute path of the one program that may be started. */
  readonly run: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Names, or a prefix with `*`. */
  readonly env: readonly string[];
  readonly sys: readonly string[];
  readonly ffi: false;
  readonly import: false;
}

/** What decides the permissions besides the configuration. */
export interface SandboxFacts {
  readonly command: BridgeCommand;
  readonly otelUrl: string | undefined;
  readonly cuoProgram: string | undefined;
  readonly dataDir: string | undefined;
  readonly workDir: string | undefined;
  /** Folders of code that embedded PostgreSQL reads at run time. */
  readonly codeDirs: readonly string[];
}

/** Computes what the command may touch: what its configuration names, and nothing else. */
export function sandboxPermissions(
  config: BridgeConfig,
  facts: SandboxFacts,
): SandboxPermissions {
  const folders = present([facts.dataDir, facts.workDir]);
  return {
    net: [...new Set(present(netHosts(config, facts)))],
    run: runsChildren(config, facts) ? present([facts.cuoProgram]) : [],
    read: present([...folders, ...facts.codeDirs, ...readPaths(config, facts)]),
    write: folders,
    // The access token may be in the environment; it is read anew for each call.
    env: ["CYBEROS_TOKEN_FILE", "CYBEROS_ACCESS_TOKEN"],
    sys: [],
    ffi: false,
    import: false,
  };
}

function runsChildren(
  config: BridgeConfig,
  { command }: SandboxFacts,
): boolean {
  return !config.embedded && config.cuoEndpoint === undefined &&
    (command === "serve" || command === "check");
}

function readPaths(
  config: BridgeConfig,
  { command }: SandboxFacts,
): (string | undefined)[] {
  if (command !== "serve" && command !== "check") return [];
  const { tokenFile, skillsDir, cyberosRoot } = config;
  const parts = cyberosRoot === undefined
    ? []
    : [...PERSONA_FOLDERS, ...(skillsDir === undefined ? SKILL_FOLDERS : [])];
  return [
    tokenFile,
    skillsDir,
    ...parts.map((folder) => `${cyberosRoot}/${folder}`),
  ];
}

function netHosts(
  config: BridgeConfig,
  facts: SandboxFacts,
): (string | undefined)[] {
  switch (facts.command) {
    case "serve":
      return config.transport === "http"
        ? [
          authority(config.listen.hostname, config.listen.port),
          ...upstreamHosts(config, facts),
        ]
        : upstreamHosts(config, facts);
    case "check":
      return config.embedded ? upstreamHosts(config, facts) : [
        // Asked for its metadata, wherever the keys are.
        urlHost(config.authIssuer),
        ...upstreamHosts(config, facts),
      ];
    case "migrate":
      return postgresHosts(config.ownerDatabaseUrl);
    case "health":
      return [ownAddress(config)];
    case "token":
    case "reset":
      return [];
  }
}

function upstreamHosts(
  config: BridgeConfig,
  { otelUrl, dataDir }: SandboxFacts,
): (string | undefined)[] {
  if (config.embedded) {
    // Where the bridges that share the folder meet.
    const meeting = dataDir === undefined ? [] : endpointGrants(dataDir);
    return [urlHost(otelUrl), ...meeting];
  }
  return [
    urlHost(otelUrl),
    urlHost(config.skillBrokerEndpoint),
    urlHost(config.memoryEndpoint),
    urlHost(config.jwksUrl ?? config.authIssuer),
    urlHost(config.cuoEndpoint),
    ...postgresHosts(config.databaseUrl),
  ];
}

/** Where a bridge with this configuration is reached from the same machine. */
export function ownAddress({ listen }: BridgeConfig): string {
  const { hostname, port } = listen;
  if (hostname === "0.0.0.0") return authority("127.0.0.1", port);
  if (hostname === "::") return authority("::1", port);
  return authority(hostname, port);
}

function authority(hostname: string, port: number): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

function urlHost(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === "http:" ? "80" : "443")}`;
}

/** A URL may name several servers, as libpq allows: `postgres://u@a:1,b:2/db`. */
function postgresHosts(url: string | undefined): string[] {
  if (url === undefined) return [];
  const { hosts, ports } = parsePostgresUrl(url);
  return hosts.map((host, at) => authority(host, ports[at] as number));
}

function present<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}
