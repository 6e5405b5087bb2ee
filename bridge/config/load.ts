/** Flags, then environment, then a file: the bridge's configuration. */
import type { JsonObject } from "../../schema/json.ts";
import { type BridgeConfig, type Setting, SETTINGS } from "./settings.ts";

/** Where configuration comes from. */
export interface ConfigSources {
  /** What follows the program's name and subcommand. */
  readonly args: readonly string[];
  readonly env: (name: string) => string | undefined;
  /** Reads the file that `--config` or `CYBEROS_CONFIG` names. May throw. */
  readonly readTextFile: (path: string) => string;
}

/** One thing wrong, and where: a flag, a variable or a place in the file. */
export interface ConfigProblem {
  readonly source: "flag" | "environment" | "file";
  readonly name: string;
  readonly message: string;
}

/** The configuration, and all that is wrong with it; a wrong value leaves its default. */
export interface LoadedConfig {
  readonly config: BridgeConfig;
  readonly problems: readonly ConfigProblem[];
  /** Keys of {@link BridgeConfig} that somebody set. */
  readonly given: ReadonlySet<keyof BridgeConfig>;
}

type Key = keyof BridgeConfig;
const KEYS = Object.keys(SETTINGS) as Key[];
const SWITCH_PLACEHOLDER = "";
const MAX_FILE_CHARS = 1_000_000;

/** Reads all sources. Never throws: every fault is a {@link ConfigProblem}. */
export function loadConfig(sources: ConfigSources): LoadedConfig {
  const problems: ConfigProblem[] = [];
  const { flags, configFile } = parseFlags(sources.args, problems);
  const file = readFile(
    configFile ?? sources.env("CYBEROS_CONFIG"),
    sources,
    problems,
  );
  const values: Partial<Record<Key, unknown>> = {};
  const given = new Set<Key>();
  for (const key of KEYS) {
    const found = pick(key, { flags, env: sources.env, file });
    const value = found === undefined
      ? undefined
      : parseValue(key, found, problems);
    if (value !== undefined) given.add(key);
    values[key] = value ?? SETTINGS[key].fallback;
  }
  const config = values as unknown as BridgeConfig;
  problems.push(...contradictions(config, given));
  return { config, problems, given };
}

interface Found {
  readonly source: ConfigProblem["source"];
  readonly name: string;
  readonly text: string;
}

function pick(
  key: Key,
  from: {
    flags: ReadonlyMap<Key, string>;
    env: (name: string) => string | undefined;
    file: ReadonlyMap<Key, string>;
  },
): Found | undefined {
  const { flag, env } = SETTINGS[key];
  const byFlag = from.flags.get(key);
  if (byFlag !== undefined) {
    return { source: "flag", name: `--${flag}`, text: byFlag };
  }
  // An empty variable is an unset one: shells and compose files cannot unset.
  const byEnv = env === undefined ? undefined : from.env(env);
  if (byEnv !== undefined && byEnv !== "") {
    return { source: "environment", name: env as string, text: byEnv };
  }
  const byFile = from.file.get(key);
  if (byFile === undefined) return undefined;
  return { source: "file", name: flag as string, text: byFile };
}

function parseValue(
  key: Key,
  found: Found,
  problems: ConfigProblem[],
): unknown {
  const setting = SETTINGS[key] as Setting<unknown>;
  const value = setting.kind.parse(found.text);
  if (value !== undefined) return value;
  const got = setting.secret
    ? "something else"
    : JSON.stringify(found.text.slice(0, 80));
  problems.push({
    source: found.source,
    name: found.name,
    message: `want ${setting.kind.wants}, got ${got}`,
  });
  return undefined;
}

function keyOfFlag(flag: string): Key | undefined {
  return KEYS.find((key) => SETTINGS[key].flag === flag);
}

function parseFlags(
  args: readonly string[],
  problems: ConfigProblem[],
): { flags: Map<Key, string>; configFile: string | undefined } {
  const flags = new Map<Key, string>();
  let configFile: string | undefined;
  const fail = (name: string, message: string) =>
    problems.push({ source: "flag", name, message });
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    const match = /^--([a-z][a-z0-9-]*)(?:=(.*))?$/s.exec(arg);
    const name = match?.[1];
    const key = name === undefined ? undefined : keyOfFlag(name);
    if (name === undefined || (key === undefined && name !== "config")) {
      fail(shown(arg, at), `unknown${nearest(name)}; see --help`);
      continue;
    }
    const isSwitch = key !== undefined &&
      SETTINGS[key].kind.placeholder === SWITCH_PLACEHOLDER;
    let value = match?.[2];
    if (value === undefined && isSwitch) value = "true";
    if (value === undefined) value = args[++at];
    if (
      value === undefined ||
      (value.startsWith("--") && match?.[2] === undefined)
    ) {
      fail(`--${name}`, "needs a value");
      continue;
    }
    if (key === undefined) configFile = value;
    else flags.set(key, joined(key, flags.get(key), value));
  }
  return { flags, configFile };
}

/** Without the value, which may be a secret under a name that was mistyped. */
function shown(arg: string, at: number): string {
  return /^[\w.-]{1,40}(?==|$)/.exec(arg)?.[0] ?? `argument ${at + 1}`;
}

function joined(key: Key, before: string | undefined, value: string): string {
  const repeatable = Array.isArray(SETTINGS[key].fallback);
  return before !== undefined && repeatable ? `${before},${value}` : value;
}

function nearest(name: string | undefined): string {
  if (name === undefined) return "";
  const close = KEYS.map((key) => SETTINGS[key].flag)
    .find((flag) =>
      flag !== undefined && (flag.startsWith(name) || name.startsWith(flag))
    );
  return close === undefined ? "" : `, perhaps --${close}`;
}

function readFile(
  path: string | undefined,
  sources: ConfigSources,
  problems: ConfigProblem[],
): Map<Key, string> {
  const values = new Map<Key, string>();
  if (path === undefined || path === "") return values;
  const fail = (name: string, message: string) =>
    problems.push({ source: "file", name, message });
  let parsed: JsonObject;
  try {
    const text = sources.readTextFile(path);
    if (text.length > MAX_FILE_CHARS) throw new Error("too large");
    parsed = JSON.parse(text);
    if (
      typeof parsed !== "object" || parsed === null || Array.isArray(parsed)
    ) throw new Error();
  } catch {
    fail(
      "--config",
      "want a readable file with one JSON object of flag names and values",
    );
    return values;
  }
  for (const [name, value] of Object.entries(parsed)) {
    const key = keyOfFlag(name);
    const text = fileText(value);
    if (key === undefined) {
      fail(name.slice(0, 80), `unknown${nearest(name)}; see --help`);
    } else if (text === undefined) {
      fail(name, `want ${SETTINGS[key].kind.wants}`);
    } else values.set(key, text);
  }
  return values;
}

function fileText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") {
    return String(value);
  }
  const isList = Array.isArray(value) &&
    value.every((item) => typeof item === "string");
  return isList ? value.join(",") : undefined;
}

function contradictions(
  config: BridgeConfig,
  given: ReadonlySet<Key>,
): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const say = (name: string, message: string) =>
    problems.push({ source: "flag", name, message });
  const loopback = ["127.0.0.1", "localhost", "::1"].includes(
    config.listen.hostname,
  );
  if (config.embedded && config.transport === "http" && !loopback) {
    say(
      "--embedded",
      "listens on loopback only: leave --listen out, or run without --embedded",
    );
  }
  if (config.ephemeral && !config.embedded) {
    say("--ephemeral", "goes with --embedded only");
  }
  if (config.ephemeral && given.has("dataDir")) {
    say("--ephemeral", "keeps nothing, so it cannot go with a data folder");
  }
  return problems;
}
