/** Connections that come back by themselves, without a storm and without a wait beyond a caller's patience. */
import type { JsonValue } from "../../schema/json.ts";
import type { Logger, SqlRow } from "../ports.ts";
import { createClient, type PostgresClient } from "./postgres_client.ts";
import type { PostgresAddress } from "./postgres_url.ts";
import { isConnectionFault, sqlCodeOf, storeUnavailable } from "./sql_error.ts";
import { createAlarm, sleep, until, within } from "./timing.ts";

/** What a pool is told. */
export interface PoolOptions {
  readonly address: PostgresAddress;
  readonly logger: Logger;
  /** Connections at most. */
  readonly max: number;
  readonly connectTimeoutMs: number;
  /** Every statement is given up after this, the wait for a connection included. */
  readonly statementTimeoutMs: number;
  /** Statements that wait for a connection at one time; more are refused. */
  readonly maxWaiting: number;
}

/** A pool of connections to one database. */
export interface PostgresPool {
  query(
    statement: string,
    parameters: readonly JsonValue[],
    signal?: AbortSignal,
  ): Promise<readonly SqlRow[]>;
  close(): Promise<void>;
}

interface Connection {
  readonly client: PostgresClient;
  /** Whether a statement has ever come back over it. */
  proven: boolean;
  dead: boolean;
}

interface Waiter {
  resolve(connection: Promise<Connection>): void;
  reject(error: unknown): void;
}

// How long a call waits for a reconnect that is under way, before it says so.
const RECONNECT_PATIENCE_MS = 400;
const FIRST_PROBE_MS = 50;
const LAST_PROBE_MS = 1000;
const CLOSE_MS = 2000;

/**
 * Makes a pool; it connects on first use.
 *
 * A connection carries one statement at a time, so that its end fails one call.
 * When a new connection fails and no other one works, nobody but a probe
 * connects until the server answers again.
 */
export function createPool(options: PoolOptions): PostgresPool {
  const idle: Connection[] = [];
  const waiting: Waiter[] = [];
  const alarm = createAlarm();
  let open = 0;
  let hostIndex = 0;
  let lastSuccessAt = 0;
  let outage: Promise<void> | undefined;
  let closed = false;

  async function connect(): Promise<Connection> {
    const connection: Connection = {
      client: await createClient({
        address: options.address,
        hostIndex,
        connectTimeoutMs: options.connectTimeoutMs,
        onClose: () => discard(connection),
      }),
      proven: false,
      dead: false,
    };
    return connection;
  }

  /** For a place that is counted as open already. */
  function connectCounted(): Promise<Connection> {
    return connect().catch((error) => {
      open--;
      throw error;
    });
  }

  function discard(connection: Connection): void {
    if (connection.dead) return;
    connection.dead = true;
    void connection.client.end(0);
    const at = idle.indexOf(connection);
    if (at < 0) return;
    idle.splice(at, 1);
    open--;
  }

  function acquire(): Promise<Connection> {
    const free = idle.pop();
    if (free !== undefined) return Promise.resolve(free);
    if (open < options.max) {
      open++;
      return connectCounted();
    }
    if (waiting.length >= options.maxWaiting) {
      return Promise.reject(storeUnavailable("too many statements wait"));
    }
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  }

  function release(connection: Connection): void {
    const next = closed ? undefined : waiting.shift();
    if (connection.dead) {
      if (next !== undefined && outage === undefined) {
        next.resolve(connectCounted());
      } else {
        open--;
        next?.reject(storeUnavailable("reconnecting"));
      }
    } else if (next !== undefined) next.resolve(Promise.resolve(connection));
    else if (closed) {
      open--;
      discard(connection);
    } else idle.push(connection);
  }

  async function run(
    statement: string,
    parameters: readonly JsonValue[],
    deadline: number,
  ): Promise<readonly SqlRow[]> {
    const connection = await acquireBy(deadline);
    const startedAt = performance.now();
    try {
      const rows = await within(
        connection.client.sql.unsafe(statement, parameters as never[], {
          prepare: options.address.prepare,
        }),
        deadline - startedAt,
      );
      connection.proven = true;
      lastSuccessAt = performance.now();
      return rows as unknown as readonly SqlRow[];
    } catch (error) {
      if (isConnectionFault(error) || !connection.proven) discard(connection);
      if (
        !connection.proven && lastSuccessAt < startedAt &&
        isServerFault(error, connection.client.answered)
      ) suspect(error);
      throw error;
    } finally {
      release(connection);
    }
  }

  async function acquireBy(deadline: number): Promise<Connection> {
    const acquired = acquire();
    try {
      return await within(acquired, deadline - performance.now());
    } catch (error) {
      // Whoever gave up must not keep what still comes.
      void acquired.then(release, () => {});
      throw error;
    }
  }

  /** No connection works: refuse at once until one does. */
  function suspect(reason: unknown): void {
    if (outage !== undefined || closed) return;
    options.logger.warn("store.down", { reason: sqlCodeOf(reason) ?? null });
    outage = probe().finally(() => outage = undefined);
    for (const waiter of waiting.splice(0)) {
      waiter.reject(storeUnavailable("reconnecting"));
    }
  }

  async function probe(): Promise<void> {
    const since = performance.now();
    for (let wait = FIRST_PROBE_MS; !closed; wait *= 2) {
      await alarm.wait(
        Math.min(wait, LAST_PROBE_MS) * (0.75 + Math.random() / 2),
      );
      if (closed) return;
      hostIndex++;
      const connection = await connect();
      try {
        await within(
          connection.client.sql.unsafe("select 1"),
          options.connectTimeoutMs,
        );
      } catch {
        discard(connection);
        continue;
      }
      connection.proven = true;
      open++;
      release(connection);
      options.logger.info("store.up", {
        down_ms: Math.round(performance.now() - since),
      });
      return;
    }
  }

  return {
    async query(statement, parameters, signal) {
      signal?.throwIfAborted();
      const deadline = performance.now() + options.statementTimeoutMs;
      if (outage !== undefined) {
        await within(outage, RECONNECT_PATIENCE_MS).catch(() => {});
      }
      if (closed) throw storeUnavailable("closed");
      if (outage !== undefined) throw storeUnavailable("reconnecting");
      const result = run(statement, parameters, deadline);
      return signal === undefined ? await result : await until(result, signal);
    },
    async close() {
      closed = true;
      alarm.ring();
      for (const waiter of waiting.splice(0)) {
        waiter.reject(storeUnavailable("closed"));
      }
      for (const connection of [...idle]) discard(connection);
      // Those at work are discarded when they come back.
      const until = performance.now() + CLOSE_MS;
      while (open > 0 && performance.now() < until) await sleep(5);
      await outage;
    },
  };
}

/** Whether it is the server, rather than our statement or one ended backend, that a new connection failed on. */
function isServerFault(error: unknown, answered: boolean): boolean {
  return /^(57P03|28|3D|53)/.test(sqlCodeOf(error) ?? "") ||
    (!answered && isConnectionFault(error));
}
