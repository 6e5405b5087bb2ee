/** What the launcher finds out about the machine, so that the sandboxed bridge need not. */
import type { ConfigProblem, LoadedConfig } from "../config/load.ts";
import type { BridgeConfig } from "../config/settings.ts";
import { readOtelOptions } from "../telemetry/options.ts";
import { defaultDataDir } from "./data_dir.ts";
import { findProgram } from "./find_program.ts";
import { grantedOf } from "./granted.ts";
import type { BridgeCommand, LaunchMessage } from "./launch_message.ts";
import { type SandboxPermissions, sandboxPermissions } from "./permissions.ts";
import { strayLink } from "./stray_link.ts";

/** What {@link prepare} needs. */
export interface PrepareOptions {
  readonly command: BridgeCommand;
  readonly args: readonly string[];
  readonly loaded: LoadedConfig;
  readonly env: (name: string) => string | undefined;
}

/** What the launcher takes, and what it says about it. */
export interface Prepared {
  readonly message: LaunchMessage;
  readonly permissions: SandboxPermissions;
  /** Permissions that the command line did not give. */
  readonly withheld: readonly string[];
  /** Removes what was made for this process alone. */
  cleanUp(): void;
}

const OTEL_NAMES: readonly string[] = [
  "SDK_DISABLED",
  "TRACES_EXPORTER",
  "TRACES_SAMPLER",
  "TRACES_SAMPLER_ARG",
  "SERVICE_NAME",
  "RESOURCE_ATTRIBUTES",
  "BSP_MAX_QUEUE_SIZE",
  "BSP_MAX_EXPORT_BATCH_SIZE",
  "BSP_SCHEDULE_DELAY",
  ...["EXPORTER_OTLP", "EXPORTER_OTLP_TRACES"].flatMap((prefix) =>
    ["ENDPOINT", "HEADERS", "TIMEOUT", "PROTOCOL"].map((name) =>
      `${prefix}_${name}`
    )
  ),
].map((name) => `OTEL_${name}`);

/** What a child program may know of our environment: never a token. */
const CHILD_NAMES: readonly string[] = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
];

/** Looks at program, folders and variables, and computes the permissions. */
export function prepare(options: PrepareOptions): Prepared {
  const { command, loaded, env } = options;
  const config = absolutePaths(loaded.config);
  const cuoProgram = config.embedded || config.cuoEndpoint !== undefined
    ? undefined
    : findProgram(config.cuo, env("PATH"));
  const workDir = cuoProgram !== undefined && command === "serve"
    ? makeWorkDir()
    : undefined;
  const dataDir = config.embedded && !config.ephemeral
    ? absolute(config.dataDir ?? defaultDataDir(env))
    : undefined;
  const escaping = linkProblems(dataDir);
  const otelEnv = pick(OTEL_NAMES, env);
  const otelUrl =
    readOtelOptions((name) => otelEnv[name], { name: "", version: "" }).url;
  const { permissions, withheld } = grantedOf(
    sandboxPermissions(config, {
      command,
      otelUrl,
      cuoProgram,
      dataDir: escaping.length === 0 ? dataDir : undefined,
      workDir,
      codeDirs: config.embedded ? embeddedCode() : [],
    }),
  );
  return {
    message: {
      type: "launch",
      command,
      args: options.args,
      config,
      problems: [...loaded.problems, ...escaping],
      given: [...loaded.given],
      otelEnv,
      childEnv: {
        ...pick(CHILD_NAMES, env),
        ...passedOn(config.cuoEnv, env),
        ...cyberosRoot(config),
      },
      cuoProgram,
      dataDir,
      workDir,
    },
    permissions,
    withheld,
    cleanUp: () => removeWorkDir(workDir),
  };
}

/** The folder is withheld while it holds a way out. */
function linkProblems(dataDir: string | undefined): ConfigProblem[] {
  const link = dataDir === undefined ? undefined : strayLink(dataDir);
  return link === undefined ? [] : [{
    source: "environment",
    name: "the data folder",
    message:
      `it holds a symbolic link that leads out of it, "${link}"; remove the link, or name another folder with --data-dir`,
  }];
}

function pick(
  names: readonly string[],
  env: (name: string) => string | undefined,
): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = env(name);
    if (value !== undefined && value !== "") found[name] = value;
  }
  return found;
}

/** The launcher may read `CYBEROS_*` only, where the command line says no more. */
function passedOn(
  names: readonly string[],
  env: (name: string) => string | undefined,
): Record<string, string> {
  const found = names.flatMap((name) => {
    const value = env(`CYBEROS_CUO_ENV_${name}`) || env(name);
    return value === undefined || value === "" ? [] : [[name, value]];
  });
  return Object.fromEntries(found);
}

function cyberosRoot(config: BridgeConfig): Record<string, string> {
  return config.cyberosRoot === undefined
    ? {}
    : { CYBEROS_ROOT: absolute(config.cyberosRoot) };
}

function absolute(path: string): string {
  return /^([/\\]|[A-Za-z]:)/.test(path) ? path : `${Deno.cwd()}/${path}`;
}

/**
 * Permissions compare paths, so that a path is made absolute once, before both
 * use it. Folders may lie behind a link, which is followed here; the token's
 * file may be one that changes, which is followed with each call.
 */
function absolutePaths(config: BridgeConfig): BridgeConfig {
  return {
    ...config,
    skillsDir: realFolder(config.skillsDir),
    cyberosRoot: realFolder(config.cyberosRoot),
    tokenFile: config.tokenFile && absolute(config.tokenFile),
  };
}

function realFolder(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return Deno.realPathSync(absolute(path));
  } catch {
    // Not there yet, or not to be looked at: reading it says so.
    return absolute(path);
  }
}

function makeWorkDir(): string | undefined {
  try {
    return Deno.realPathSync(
      Deno.makeTempDirSync({ prefix: "cyberos-bridge-" }),
    );
  } catch {
    // Only CUO's command-line protocol needs the folder; it says so when it does.
    return undefined;
  }
}

function removeWorkDir(dir: string | undefined): void {
  if (dir === undefined) return;
  try {
    Deno.removeSync(dir, { recursive: true });
  } catch {
    // A temporary folder that stays does no harm.
  }
}

/**
 * What embedded PostgreSQL reads when it boots: PGlite's own files, and the code
 * of its thread, which a sandboxed thread may start only where it may read it.
 */
function embeddedCode(): string[] {
  // A compiled program starts a thread of its own code whatever it may read.
  const folders = Deno.build.standalone
    ? []
    : ["../../bridge/", "../../schema/", "../../migrations/"];
  const urls = folders.map((folder) => new URL(folder, import.meta.url));
  try {
    urls.push(new URL(".", import.meta.resolve("@electric-sql/pglite")));
  } catch {
    // Where it cannot be found, opening it says so.
  }
  return urls.filter(({ protocol }) => protocol === "file:").map(
    ({ pathname }) => {
      const path = decodeURIComponent(pathname);
      return Deno.build.os === "windows" ? path.slice(1) : path;
    },
  );
}
