/**
 * Serves the requests of single connections, each within bounds of time.
 *
 * `Deno.serve` never closes a connection that sends nothing, sends its head a
 * byte a minute, or idles after an answer, and it tells nobody how many there
 * are. The function underneath it, which serves one accepted connection, lets a
 * server of ours do both. It is internal to Deno: where it is missing,
 * {@link findServeConnection} says so and the caller falls back to `Deno.serve`.
 */
import { createAlarms, type SetAlarm } from "./alarms.ts";
import type { HttpInfo } from "./context.ts";

/** One connection that is being served. */
interface ServedConnection {
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

/**
 * What the function takes for an abort signal: all that it does with one is to
 * hang up on `abort`. A real signal would not do: its listener throws where the
 * connection has just ended by itself, and what a listener throws ends the
 * process.
 */
interface HangUpSignal {
  addEventListener(type: "abort", hangUp: () => void): void;
}

/** Serves one accepted connection. */
export type ServeConnection = (
  connection: Deno.Conn,
  signal: HangUpSignal,
  handler: (request: Request) => Response | Promise<Response>,
  onError: (error: unknown) => Response | Promise<Response>,
  onListen: () => void,
) => ServedConnection;

/** The function of this Deno, if it has one. */
export function findServeConnection(): ServeConnection | undefined {
  const { internal } = Deno as unknown as { internal?: symbol };
  if (internal === undefined) return undefined;
  const parts = (Deno as unknown as Record<symbol, unknown>)[internal] as
    | { readonly serveHttpOnConnection?: ServeConnection }
    | undefined;
  const found = parts?.serveHttpOnConnection;
  return typeof found === "function" ? found : undefined;
}

/** Answers a request of one connection. Never rejects. */
export type ConnectionHandler = (
  request: Request,
  info: HttpInfo,
) => Promise<Response>;

/** Bounds of connections. */
export interface ConnectionLimits {
  /** One more is answered 503 and closed. Default 10,000. */
  readonly maxConnections?: number;
  /** Without a request under way, its head included. Default 60 s. */
  readonly idleTimeoutMs?: number;
}

/** A set of connections. */
export interface Connections {
  readonly size: number;
  /** Takes an accepted connection over. Never throws. */
  add(connection: Deno.Conn): void;
  /** Closes idle ones at once, and each other one after its answer. Resolves when all are gone. */
  drain(): Promise<void>;
  /** Closes all at once. */
  abort(): void;
}

/** Creates the set. */
export function createConnections(
  serve: ServeConnection,
  handler: ConnectionHandler,
  { maxConnections = 10_000, idleTimeoutMs = 60_000 }: ConnectionLimits,
): Connections {
  const open = new Set<Connection>();
  let emptied: (() => void) | undefined;
  let sweeper: ReturnType<typeof setInterval> | undefined;
  // One timer for all connections: one for each would cost every request.
  const alarms = createAlarms();
  const sweep = () => {
    alarms.ring();
    const since = performance.now() - idleTimeoutMs;
    for (const connection of open) connection.endIfIdle(since);
  };
  const remove = (connection: Connection) => {
    open.delete(connection);
    if (open.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
    emptied?.();
  };
  return {
    get size() {
      return open.size;
    },
    add(accepted) {
      if (open.size >= maxConnections) return turnAway(accepted);
      const connection = serveOne(accepted, {
        serve,
        handler,
        setAlarm: alarms.set,
      });
      if (connection === undefined) return;
      open.add(connection);
      sweeper ??= setInterval(sweep, sweepEveryMs(idleTimeoutMs));
      connection.finished.then(() => remove(connection));
    },
    async drain() {
      if (open.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      emptied = resolve;
      for (const connection of open) connection.drain();
      await promise;
    },
    abort() {
      for (const connection of open) connection.hangUp();
    },
  };
}

interface Serving {
  readonly serve: ServeConnection;
  readonly handler: ConnectionHandler;
  readonly setAlarm: SetAlarm;
}

/** @returns `undefined` where the peer has gone already. */
function serveOne(accepted: Deno.Conn, how: Serving): Connection | undefined {
  try {
    return new Connection(accepted, how);
  } catch {
    close(accepted);
    return undefined;
  }
}

function sweepEveryMs(idleTimeoutMs: number): number {
  return Math.max(10, Math.min(1_000, idleTimeoutMs / 4));
}

/** How long an answer may take to leave after its handler is done. */
const FLUSH_MS = 1_000;

class Connection {
  readonly finished: Promise<void>;
  readonly #served: ServedConnection;
  #hangUp: (() => void) | undefined;
  #busy = 0;
  #idleSince = performance.now();
  #draining = false;

  constructor(accepted: Deno.Conn, { serve, handler, setAlarm }: Serving) {
    const info: HttpInfo = {
      keepBusy: (work) => void this.#track(work),
      setAlarm,
    };
    this.#served = serve(
      accepted,
      { addEventListener: (_type, hangUp) => this.#hangUp = hangUp },
      (request) => this.#track(handler(request, info)),
      () => new Response(null, { status: 500 }),
      () => {},
    );
    // However a connection ends, it has ended; some versions leave it open after an error.
    this.finished = this.#served.finished.catch(() => this.#shutDown());
  }

  /** Ends it now, or after the answer that is under way. */
  drain(): void {
    this.#draining = true;
    if (this.#busy > 0) return;
    const restedMs = performance.now() - this.#idleSince;
    // An answer of this moment may still be on its way out.
    if (restedMs < FLUSH_MS) this.#shutDown();
    else this.hangUp();
  }

  /** Ends it now. Has no effect once it flushes its last answer. */
  hangUp(): void {
    try {
      this.#hangUp?.();
    } catch {
      // It has just ended by itself.
    }
  }

  endIfIdle(since: number): void {
    if (this.#busy === 0 && this.#idleSince < since) this.hangUp();
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work;
    } finally {
      this.#busy--;
      this.#idleSince = performance.now();
      // Gracefully: the answer may still be on its way out.
      if (this.#draining && this.#busy === 0) this.#shutDown();
    }
  }

  async #shutDown(): Promise<void> {
    await this.#served.shutdown().catch(() => {});
  }
}

const TURNED_AWAY = new TextEncoder().encode(
  "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
);

function turnAway(connection: Deno.Conn): void {
  connection.write(TURNED_AWAY).catch(() => {}).finally(() =>
    close(connection)
  );
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // Closed already.
  }
}
