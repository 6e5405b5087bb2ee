/**
 * postgres.js, configured so that it cannot surprise us: nothing from the
 * environment, no session state, and no connection attempt beyond a budget.
 */
import net from "node:net";
import type { Sql } from "postgres";

/** A URL's parts, as postgres.js wants them. */
export interface PostgresAddress {
  readonly hosts: readonly string[];
  readonly ports: readonly number[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl: false | "prefer" | "require" | "verify-full";
  /** Off behind a pooler that does not know prepared statements. */
  readonly prepare: boolean;
}

/**
 * Parses `postgres://user:password@host:port/database`. Several hosts are
 * separated by commas. `sslmode` is libpq's; `prepare=false` or
 * `pgbouncer=true` gives up prepared statements.
 *
 * @throws {TypeError} without the URL in it, which holds a password.
 */
export function parsePostgresUrl(text: string): PostgresAddress {
  const match =
    /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/
      .exec(text);
  const user = decodeURIComponent(match?.[1] ?? "");
  const places = (match?.[3] ?? "").split(",").filter((part) => part !== "");
  if (match === null || user === "" || places.length === 0) {
    throw new TypeError(
      "Cannot read the database URL: write postgres://user:password@host:port/database",
    );
  }
  const query = new URLSearchParams(match[5] ?? "");
  return {
    hosts: places.map((place) =>
      place.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1")
    ),
    ports: places.map((place) => Number(/:(\d+)$/.exec(place)?.[1] ?? 5432)),
    user,
    password: decodeURIComponent(match[2] ?? ""),
    database: decodeURIComponent(match[4] ?? "") || user,
    ssl: sslOf(query.get("sslmode") ?? query.get("ssl") ?? "disable"),
    prepare: query.get("prepare") !== "false" &&
      query.get("pgbouncer") !== "true",
  };
}

function sslOf(mode: string): PostgresAddress["ssl"] {
  switch (mode) {
    case "disable":
    case "false":
      return false;
    case "allow":
    case "prefer":
      return "prefer";
    case "require":
    case "true":
      return "require";
    case "verify-ca":
    case "verify-full":
      return "verify-full";
  }
  throw new TypeError(
    "Cannot read the database URL: sslmode is one of disable, prefer, require, verify-full",
  );
}

/** How one client of postgres.js is to be. */
export interface ClientOptions {
  readonly address: PostgresAddress;
  readonly max: number;
  readonly connectTimeoutMs: number;
  readonly onNotify?: (channel: string, payload: string) => void;
  readonly onClose?: () => void;
}

/** A client, and the one right way to leave it. */
export interface PostgresClient {
  readonly sql: Sql;
  /** Gives back the connection attempts that a success has earned. */
  succeeded(): void;
  /** Ends it within the time, whatever state its connections are in. Never rejects. */
  end(timeoutMs: number): Promise<void>;
}

const text = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** Makes a client. It connects on first use. */
export async function createClient(
  options: ClientOptions,
): Promise<PostgresClient> {
  const { default: postgres } = await import("postgres");
  const { address } = options;
  const gate = createGate(options);
  const sql = postgres({
    host: [...address.hosts],
    port: [...address.ports],
    user: address.user,
    password: address.password,
    database: address.database,
    ssl: address.ssl,
    max: options.max,
    prepare: address.prepare,
    connect_timeout: options.connectTimeoutMs / 1000,
    backoff: () => 0.1,
    idle_timeout: 0,
    max_lifetime: null,
    max_pipeline: 16,
    keep_alive: 30,
    fetch_types: false,
    debug: false,
    publications: "alltables",
    target_session_attrs: undefined,
    sslnegotiation: null,
    connection: { application_name: "cyberos-mcp-bridge" },
    onnotice: () => {},
    onnotify: options.onNotify,
    onclose: options.onClose,
    // Objects go as JSON text, text as it is, so that both drivers agree.
    types: {
      json: {
        to: 114,
        from: [114, 3802],
        serialize: text,
        parse: (value: string) => JSON.parse(value),
      },
      jsonb: { to: 3802, from: [], serialize: text, parse: text },
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
    },
    socket: gate.connect,
    // deno-lint-ignore no-explicit-any -- its types lack `socket`, `sslnegotiation` and null for "none"
  } as any) as Sql;
  return {
    sql,
    succeeded: gate.refill,
    async end(timeoutMs) {
      gate.close();
      await sql.end({ timeout: timeoutMs / 1000 }).catch(() => {});
    },
  };
}

/**
 * Makes the sockets, because postgres.js by itself connects again at once and
 * for ever to a peer that accepts and closes, and even after `end()`.
 */
function createGate(options: ClientOptions): {
  connect(): net.Socket;
  refill(): void;
  close(): void;
} {
  const capacity = options.max * 2 + 2;
  let left = capacity;
  let attempt = 0;
  let closed = false;
  return {
    connect() {
      const { hosts, ports } = options.address;
      const index = attempt++ % hosts.length;
      if (closed || left <= 0) return refusedSocket();
      left--;
      const host = hosts[index] as string;
      const port = ports[index] as number;
      const socket = host.startsWith("/")
        ? net.connect(`${host}/.s.PGSQL.${port}`)
        : net.connect(port, host);
      // What postgres.js reads for the server's name in TLS.
      return Object.assign(socket, { host, port });
    },
    refill() {
      left = capacity;
    },
    close() {
      closed = true;
    },
  };
}

function refusedSocket(): net.Socket {
  const socket = new net.Socket();
  const error = Object.assign(new Error("No connection attempt is left"), {
    code: "CONNECTION_ATTEMPTS_CLOSED",
  });
  queueMicrotask(() => socket.destroy(error));
  return socket;
}
