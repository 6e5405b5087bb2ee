/**
 * Ending what a child has started, where this process may signal any process.
 *
 * A bridge under `--allow-run=cyberos-cuo` may not: there the child ends its own
 * group on SIGTERM or when its stdin closes, as its contract says. A launcher
 * with full permissions can offer this to the bridge.
 */

/** A process, told apart from a later one with the same number by its start. */
export interface ProcessRef {
  readonly pid: number;
  readonly started: string;
}

/** Looks for a child's descendants and ends them. Neither method rejects. */
export interface ProcessTree {
  /** Living descendants of the process, and members of its group or session, without itself. */
  descendants(pid: number): Promise<readonly ProcessRef[]>;
  /** Sends SIGKILL to those that still live. Gives how many there were. */
  kill(processes: readonly ProcessRef[]): Promise<number>;
}

/** One line of the process table. */
export interface ProcessEntry extends ProcessRef {
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/** The tree for this process, or `undefined` where it may not signal others. */
export async function createProcessTree(): Promise<ProcessTree | undefined> {
  const { state } = await Deno.permissions.query({ name: "run" });
  if (state !== "granted" || Deno.build.os === "windows") return undefined;
  return {
    descendants: async (pid) => descendantsIn(await readProcesses(), pid),
    kill: killProcesses,
  };
}

/** The process table; empty where this process may not read it. */
export async function readProcesses(): Promise<readonly ProcessEntry[]> {
  const entries = Deno.build.os === "linux" ? await readProc() : [];
  // Deno opens /proc to a process with every permission only; ps reads it for us.
  return entries.length > 0 ? entries : await readPs();
}

/** Sends SIGKILL to those that still live; a number that was given anew is left alone. */
export async function killProcesses(
  processes: readonly ProcessRef[],
): Promise<number> {
  if (processes.length === 0) return 0;
  const living = new Map(
    (await readProcesses()).map((one) => [one.pid, one.started]),
  );
  return processes.filter(({ pid, started }) =>
    isSameStart(living.get(pid), started) && signal(pid)
  ).length;
}

/** `ps` computes a start from the clock each time: it may come out a second apart. */
function isSameStart(now: string | undefined, then: string): boolean {
  if (now === undefined || now === then) return now !== undefined;
  return Math.abs(Date.parse(now) - Date.parse(then)) <= 1000;
}

/** The entries below `pid`, by parenthood, group or session. */
export function descendantsIn(
  table: readonly ProcessEntry[],
  pid: number,
): readonly ProcessRef[] {
  const found = new Map<number, ProcessEntry>();
  for (let grown = true; grown;) {
    grown = false;
    for (const entry of table) {
      if (entry.pid === pid || found.has(entry.pid)) continue;
      const below = entry.parent === pid || entry.group === pid ||
        entry.session === pid || found.has(entry.parent);
      if (!below) continue;
      found.set(entry.pid, entry);
      grown = true;
    }
  }
  return [...found.values()].map(({ pid, started }) => ({ pid, started }));
}

/** Reads one `/proc/<pid>/stat`; the command in parentheses may hold anything. */
export function parseStat(text: string): ProcessEntry | undefined {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const pid = Number.parseInt(text, 10);
  const started = fields[19];
  if (!Number.isInteger(pid) || started === undefined || fields[0] === "Z") {
    return undefined;
  }
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    started,
  };
}

async function readProc(): Promise<readonly ProcessEntry[]> {
  const entries: ProcessEntry[] = [];
  try {
    for await (const { name } of Deno.readDir("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const stat = await Deno.readTextFile(`/proc/${name}/stat`)
        .catch(() => "");
      const entry = parseStat(stat);
      if (entry !== undefined) entries.push(entry);
    }
  } catch {
    // No process table here: then nothing can be found.
  }
  return entries;
}

async function readPs(): Promise<readonly ProcessEntry[]> {
  try {
    const { stdout } = await new Deno.Command("ps", {
      args: ["-A", "-o", "pid=,ppid=,pgid=,sess=,lstart="],
      stdin: "null",
      stderr: "null",
    }).output();
    return new TextDecoder().decode(stdout).split("\n").flatMap(parsePs);
  } catch {
    return [];
  }
}

function parsePs(line: string): readonly ProcessEntry[] {
  const [pid, parent, group, session, ...started] = line.trim().split(/\s+/);
  if (pid === undefined || started.length === 0) return [];
  return [{
    pid: Number(pid),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: started.join(" "),
  }];
}

function signal(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}
