/** A subcommand's own flags: `--name value`, `--name=value` or a bare `--name`. */

/** The flags by name; a bare one is the empty text. */
export function ownFlags(args: readonly string[]): ReadonlyMap<string, string> {
  const flags = new Map<string, string>();
  for (let at = 0; at < args.length; at++) {
    const [, name, value] =
      /^--([a-z-]+)(?:=(.*))?$/s.exec(args[at] as string) ?? [];
    if (name === undefined) continue;
    const next = args[at + 1];
    if (value === undefined && next !== undefined && !next.startsWith("--")) {
      at++;
    }
    flags.set(
      name,
      value ?? (next !== undefined && !next.startsWith("--") ? next : ""),
    );
  }
  return flags;
}

/** Writes to stdout or stderr, whole and at once. */
export function print(stream: "stdout" | "stderr", text: string): void {
  const bytes = new TextEncoder().encode(`${text}\n`);
  for (let at = 0; at < bytes.length;) {
    at += Deno[stream].writeSync(bytes.subarray(at));
  }
}
