/** What a child of ours gets to know of this process. */

/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

// Enough for an interpreter to find itself, its home and its locale; nothing else is inherited.
const INHERITED: readonly string[] = [
  "PATH",
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  "TMPDIR",
  "TEMP",
  "TMP",
  "SYSTEMROOT",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
  "SSL_CERT_FILE",
];

/** Names that are never passed on, whoever asks: the bridge's own secrets and loader tricks. */
const REFUSED =
  /^(LD_|DYLD_|DENO_|NODE_OPTIONS$|PYTHONSTARTUP$|CYBEROS_.*(TOKEN|DATABASE_URL)|CYBEROS_TOKEN_FILE$|OTEL_)/;

/** What {@link childEnvironment} is made from. */
export interface EnvironmentSource {
  /** This process's variables, as far as it may read them. */
  readonly environment: Environment;
  /** `CYBEROS_ROOT`. */
  readonly root?: string;
  /** More names that the operator wants passed on, such as a model's API key. */
  readonly pass?: readonly string[];
}

/** The whole environment of a child, for use with `clearEnv`. */
export function childEnvironment(
  source: EnvironmentSource,
): Record<string, string> {
  const variables: Record<string, string> = {
    // Python: no block buffering on pipes, so that progress comes when it happens.
    PYTHONUNBUFFERED: "1",
    PYTHONIOENCODING: "utf-8",
    PYTHONUTF8: "1",
    NO_COLOR: "1",
  };
  for (const name of [...INHERITED, ...(source.pass ?? [])]) {
    const value = source.environment[name];
    if (value !== undefined && value !== "" && !REFUSED.test(name)) {
      variables[name] = value;
    }
  }
  if (source.root !== undefined) variables["CYBEROS_ROOT"] = source.root;
  return variables;
}
