/**
 * Throwaway PostgreSQL servers. Each lives in a temporary folder and ends with
 * the process that asked for it, however that ends.
 */

/** Where the server programs are, or `undefined` where there is none. */
export function findPostgres(): string | undefined {
  const candidates: string[] = [];
  const given = Deno.env.get("CYBEROS_TEST_POSTGRES_BIN");
  if (given !== undefined) candidates.push(given);
  for (const root of ["/usr/lib/postgresql", "/usr/local/opt/postgresql"]) {
    try {
      const versions = [...Deno.readDirSync(root)].map((entry) => entry.name);
      versions.sort((a, b) => Number(b) - Number(a));
      candidates.push(...versions.map((version) => `${root}/${version}/bin`));
    } catch {
      // Not this system's way.
    }
  }
  for (const dir of (Deno.env.get("PATH") ?? "").split(":")) {
    candidates.push(dir);
  }
  return candidates.find((dir) => exists(`${dir}/initdb`));
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** How PostgreSQL is told to stop: `fast` disconnects everybody, `immediate` is a crash. */
export type StopMode = "fast" | "immediate";

/** A running server of our own. */
export interface PostgresCluster {
  readonly dir: string;
  readonly port: number;
  /** A URL over TCP; every role may log in without a password. */
  url(user: string, database: string): string;
  stop(mode: StopMode): Promise<void>;
  start(): Promise<void>;
  /** What the server logged. */
  log(): Promise<string>;
  /** Stops the server and removes its folder. */
  dispose(): Promise<void>;
}

/** How a server is to be. */
export interface ClusterOptions {
  /** Whether commits reach the disk: only where crashes are tested. */
  readonly durable?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
  /** The process whose end takes the server along; this one by default. */
  readonly parentPid?: number;
  /** Files that go when the server goes. */
  readonly notes?: readonly string[];
}

// Waits in the background for the parent's end, then removes everything.
const START = `
set -e
cd "$DIR"
as() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
if [ "$(id -u)" = 0 ]; then chown postgres "$DIR"; fi
as "$BIN/initdb" -D "$DIR/data" -U postgres -A trust -E UTF8 --no-locale --no-sync >"$DIR/initdb.log" 2>&1
printf '%s' "$SETTINGS" | as tee -a "$DIR/data/postgresql.conf" >/dev/null
as "$BIN/pg_ctl" -D "$DIR/data" -l "$DIR/data/server.log" -w -t 60 start >"$DIR/start.log" 2>&1
(
  trap '' INT TERM HUP
  while kill -0 "$PARENT" 2>/dev/null && [ -d "$DIR/data" ]; do sleep 0.25; done
  as "$BIN/pg_ctl" -D "$DIR/data" -m immediate -w stop
  rm -rf "$DIR"
  printf '%s' "$NOTES" | while read -r note; do rm -f "$note"; done
) </dev/null >/dev/null 2>&1 &
`;

/** Makes a server in a new folder and waits until it answers. */
export async function startCluster(
  bin: string,
  options: ClusterOptions = {},
): Promise<PostgresCluster> {
  for (let attempt = 1;; attempt++) {
    const dir = await Deno.makeTempDir({ prefix: "cyberos-pg-" });
    await Deno.chmod(dir, 0o755);
    const port = freePort();
    const { success, stderr } = await new Deno.Command("sh", {
      args: ["-c", START],
      env: {
        BIN: bin,
        DIR: dir,
        PARENT: String(options.parentPid ?? Deno.pid),
        SETTINGS: settings(port, dir, options),
        NOTES: (options.notes ?? []).map((note) => `${note}\n`).join(""),
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).output();
    if (success) return cluster(bin, dir, port);
    const log = new TextDecoder().decode(stderr) + await logOf(dir);
    await Deno.remove(dir, { recursive: true });
    if (attempt === 3) throw new Error(`PostgreSQL does not start: ${log}`);
  }
}

/** A handle on a server that another isolate of this process started. */
export function cluster(
  bin: string,
  dir: string,
  port: number,
): PostgresCluster {
  const control = async (...args: string[]): Promise<void> => {
    const command = [`${bin}/pg_ctl`, "-D", `${dir}/data`, "-w", ...args];
    const [program, ...rest] = Deno.uid() === 0
      ? ["runuser", "-u", "postgres", "--", ...command]
      : command;
    const { success } = await new Deno.Command(program as string, {
      args: rest,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    if (!success) {
      throw new Error(`pg_ctl ${args.join(" ")} failed: ${await logOf(dir)}`);
    }
  };
  return {
    dir,
    port,
    url: (user, database) =>
      `postgres://${user}@127.0.0.1:${port}/${encodeURIComponent(database)}`,
    stop: (mode) => control("-m", mode, "stop"),
    start: () => control("-l", `${dir}/data/server.log`, "start"),
    log: () => logOf(dir),
    async dispose() {
      await control("-m", "immediate", "stop").catch(() => {});
      await Deno.remove(dir, { recursive: true });
    },
  };
}

function settings(port: number, dir: string, options: ClusterOptions): string {
  const all: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: dir,
    max_connections: "200",
    shared_buffers: "64MB",
    fsync: options.durable ? "on" : "off",
    synchronous_commit: options.durable ? "on" : "off",
    full_page_writes: options.durable ? "on" : "off",
    log_min_messages: "warning",
    ...options.settings,
  };
  return Object.entries(all)
    .map(([name, value]) => `${name} = '${value}'\n`).join("");
}

async function logOf(dir: string): Promise<string> {
  const texts = await Promise.all(
    ["initdb.log", "start.log", "data/server.log"].map((name) =>
      Deno.readTextFile(`${dir}/${name}`).catch(() => "")
    ),
  );
  return texts.join("\n");
}

/** A TCP port of loopback that nobody listened on a moment ago. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}
