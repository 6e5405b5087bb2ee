/** The exact permissions of the bridge's code, computed from its configuration. */
import type { BridgeConfig } from "../config/settings.ts";
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
  const root = config.cyberosRoot === undefined
    ? undefined
    : `${config.cyberosRoot}/skills`;
  return [config.tokenFile, config.skillsDir ?? root];
}

function netHosts(
  config: BridgeConfig,
  facts: SandboxFacts,
): (string | undefined)[] {
  if (facts.command === "migrate") {
    return postgresHosts(config.ownerDatabaseUrl);
  }
  if (facts.command === "token" || facts.command === "reset") return [];
  const listen = facts.command === "serve" && config.transport === "http"
    ? [authority(config.listen.hostname, config.listen.port)]
    : [];
  const broker = urlHost(config.skillBrokerEndpoint);
  const common = [...listen, urlHost(facts.otelUrl)];
  if (config.embedded) return common;
  return [
    ...common,
    broker,
    urlHost(config.memoryEndpoint),
    urlHost(config.jwksUrl ?? config.authIssuer),
    urlHost(config.cuoEndpoint),
    ...postgresHosts(config.databaseUrl),
  ];
}

function authority(hostname: string, port: number): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

function urlHost(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port || (protocol === "http:" ? "80" : "443")}`;
}

/** A URL may name several servers, as libpq allows: `postgres://a:1,b:2/db`. */
function postgresHosts(url: string | undefined): string[] {
  const names = url?.match(/^postgres(?:ql)?:\/\/(?:[^@/]*@)?([^/?]*)/)?.[1];
  if (names === undefined) return [];
  return names.split(",").map((name) =>
    /:\d+$/.test(name) ? name : `${name || "localhost"}:5432`
  );
}

function present<T>(values: readonly (T | undefined)[]): T[] {
  return values.filter((value) => value !== undefined);
}
