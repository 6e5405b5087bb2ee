/** File patterns, for shells that leave them to the program. */

const MAX_MATCHES = 1000;
const MAX_VISITED = 100_000;
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Whether the text is a pattern rather than a path. */
export function isPattern(text: string): boolean {
  return /[*?]/.test(text);
}

/**
 * The files that match, sorted. `*` and `?` stay within one name, `**` stands for
 * any folders; names that start with a dot match only where the pattern's do.
 * Links are not followed.
 */
export async function expandPattern(pattern: string): Promise<string[]> {
  const absolute = pattern.startsWith("/");
  const steps = pattern.split("/").filter((step) => step !== "");
  const walk: Walk = { found: new Set(), visited: 0 };
  await visit(absolute ? "/" : "", steps, walk);
  return [...walk.found].sort();
}

interface Walk {
  readonly found: Set<string>;
  visited: number;
}

async function visit(
  folder: string,
  steps: readonly string[],
  walk: Walk,
): Promise<void> {
  const [step, ...rest] = steps;
  if (step === undefined || walk.found.size >= MAX_MATCHES) return;
  if (step === "**") await visit(folder, rest, walk);
  if (step !== "**" && !isPattern(step)) {
    const path = join(folder, step);
    return rest.length > 0
      ? await visit(path, rest, walk)
      : await addFile(path, walk);
  }
  const matches = matcher(step);
  for (const entry of await list(folder, walk)) {
    if (step !== "**" && !matches(entry.name)) continue;
    const path = join(folder, entry.name);
    if (step === "**") {
      const enters = entry.isDirectory && !SKIPPED.has(entry.name) &&
        !entry.name.startsWith(".");
      if (enters) await visit(path, steps, walk);
    } else if (rest.length > 0) {
      if (entry.isDirectory) await visit(path, rest, walk);
    } else if (entry.isFile) walk.found.add(path);
  }
}

function matcher(step: string): (name: string) => boolean {
  const source = step.replace(/[\\^$.|+()[\]{}]/g, "\\$&")
    .replaceAll("?", "[^/]").replace(/\*+/g, "[^/]*");
  const regex = new RegExp(`^${source}$`, "u");
  return (name) =>
    regex.test(name) && (step.startsWith(".") || !name.startsWith("."));
}

async function list(folder: string, walk: Walk): Promise<Deno.DirEntry[]> {
  const entries: Deno.DirEntry[] = [];
  try {
    for await (const entry of Deno.readDir(folder === "" ? "." : folder)) {
      if (++walk.visited > MAX_VISITED) break;
      entries.push(entry);
    }
  } catch {
    // A folder that is not there or closed to us holds no match.
  }
  return entries;
}

async function addFile(path: string, walk: Walk): Promise<void> {
  try {
    if ((await Deno.lstat(path)).isFile) walk.found.add(path);
  } catch {
    // No match.
  }
}

function join(folder: string, name: string): string {
  return folder === "" || folder === "/" ? folder + name : `${folder}/${name}`;
}
