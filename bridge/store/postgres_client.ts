/**
 * postgres.js, configured so that it cannot surprise us: nothing from the
 * environment, no session state, and no connection attempt beyond a budget.
 */
import net from "node:net";
import type { Sql } from "postgres";
import type { PostgresAddress } from "./postgres_url.ts";

type Codec = (value: never) => unknown;

const toText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);
const toNumber = (value: string): number => Number(value);
const toDate = (value: string): Date => new Date(value);

// By type id. An object goes as JSON text, a string as it is, whatever the
// parameter's type, so that both drivers agree.
const SERIALIZERS: Readonly<Record<number, Codec>> = {
  16: (value: boolean) => value ? "t" : "f",
  25: toText,
  114: toText,
  3802: toText,
};
const PARSERS: Readonly<Record<number, Codec>> = {
  16: (value: string) => value === "t",
  ...Object.fromEntries(
    [20, 21, 23, 26, 700, 701].map((type) => [type, toNumber]),
  ),
  114: (value: string) => JSON.parse(value),
  3802: (value: string) => JSON.parse(value),
  ...Object.fromEntries([1082, 1114, 1184].map((type) => [type, toDate])),
};

/** How a connection is to be. */
export interface ClientOptions {
  readonly address: PostgresAddress;
  /** Which of the address's hosts; counted round. */
  readonly hostIndex?: number;
  readonly connectTimeoutMs: number;
  readonly onNotify?: (channel: string, payload: string) => void;
  /** Told when the connection is gone, for whatever reason. */
  readonly onClose?: () => void;
}

/** One connection for one life: when it is gone, make another. */
export interface PostgresClient {
  readonly sql: Sql;
  /** Whether the server has said anything at all. */
  readonly answered: boolean;
  /** Leaves, whatever state it is in, once its statement is done or the time is over. Never rejects. */
  end(timeoutMs: number): Promise<void>;
}

/**
 * Makes a connection; it is established with the first statement.
 *
 * postgres.js keeps connections for many lives, and one that was cut while it
 * wrote may never write again, or connect again for ever to a peer that accepts
 * and closes. So each of ours lives once.
 */
export async function createClient(
  options: ClientOptions,
): Promise<PostgresClient> {
  const { default: postgres } = await import("postgres");
  let used = false;
  let answered = false;
  const socket = (): net.Socket => {
    if (used) return refusedSocket();
    used = true;
    return connect(options).once("data", () => answered = true);
  };
  const sql = postgres(
    parsedOptions(options, socket) as never,
  ) as unknown as Sql;
  return {
    sql,
    get answered() {
      return answered;
    },
    async end(timeoutMs) {
      used = true;
      await sql.end({ timeout: timeoutMs / 1000 }).catch(() => {});
    },
  };
}

function connect({ address, hostIndex = 0 }: ClientOptions): net.Socket {
  const index = hostIndex % address.hosts.length;
  const host = address.hosts[index] as string;
  const port = address.ports[index] as number;
  const socket = net.connect(port, host);
  // What postgres.js reads for the server's name in TLS.
  return Object.assign(socket, { host, port });
}

function refusedSocket(): net.Socket {
  const socket = new net.Socket();
  const error = Object.assign(new Error("The connection is over"), {
    code: "CONNECTION_CLOSED",
  });
  queueMicrotask(() => socket.destroy(error));
  return socket;
}

/**
 * The options as postgres.js's own parser would leave them. That parser reads
 * PGPASSWORD, PGAPPNAME and more from an environment that the bridge may not
 * read and that must not decide; whatever has `shared` it takes as parsed.
 */
function parsedOptions(
  { address, connectTimeoutMs, onNotify, onClose }: ClientOptions,
  socket: () => net.Socket,
): unknown {
  return {
    shared: { retries: 0, typeArrayMap: {} },
    host: [...address.hosts],
    port: [...address.ports],
    path: false,
    database: address.database,
    user: address.user,
    pass: address.password,
    ssl: address.ssl,
    sslnegotiation: null,
    max: 1,
    idle_timeout: null,
    connect_timeout: connectTimeoutMs / 1000,
    max_lifetime: null,
    max_pipeline: 1,
    backoff: 0.1,
    keep_alive: 30,
    prepare: address.prepare,
    debug: false,
    fetch_types: false,
    publications: "alltables",
    target_session_attrs: undefined,
    connection: { application_name: "cyberos-mcp-bridge" },
    types: {},
    onnotice: () => {},
    onnotify: onNotify,
    onclose: onClose,
    socket,
    transform: { undefined: undefined, column: {}, value: {}, row: {} },
    parameters: {},
    no_subscribe: true,
    serializers: SERIALIZERS,
    parsers: PARSERS,
  };
}
