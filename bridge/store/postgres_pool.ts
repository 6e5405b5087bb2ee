/** Connections that come back by themselves, without a storm and without a wait beyond a caller's patience. */
import type { JsonValue } from "../../schema/json.ts";
import type { Logger, SqlRow } from "../ports.ts";
import {
  type ClientOptions,
  createClient,
  type PostgresClient,
} from "./postgres_client.ts";
import { sleep, until, within } from "./timing.ts";
import { isConnectionFault, sqlCodeOf, storeUnavailable } from "./sql_error.ts";

/** What a pool is told. */
export interface PoolOptions extends ClientOptions {
  readonly logger: Logger;
  /** Every statement is given up after this. */
  readonly statementTimeoutMs: number;
  /** Statements that wait or run at one time; more are refused. */
  readonly maxPending: number;
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

// How long a call waits for a reconnect that is under way, before it says so.
const RECONNECT_PATIENCE_MS = 400;
const FIRST_PROBE_MS = 50;
const LAST_PROBE_MS = 2000;

/**
 * Makes a pool; it connects on first use.
 *
 * One broken connection is postgres.js's own affair. When the server refuses or
 * falls silent, the whole client is thrown away and a new one probes until the
 * server answers: a client that lived through an outage may keep connections
 * that never work again.
 */
export function createPool(options: PoolOptions): PostgresPool {
  let client: Promise<PostgresClient> | undefined;
  let outage: { readonly over: Promise<void> } | undefined;
  let closed = false;
  let pending = 0;
  let lastSuccessAt = 0;

  function suspect(reason: unknown): void {
    if (outage !== undefined || closed) return;
    options.logger.warn("store.down", {
      reason: sqlCodeOf(reason) ?? "unknown",
    });
    void client?.then((old) => old.end(1000), () => {});
    client = undefined;
    outage = { over: reconnect() };
  }

  async function reconnect(): Promise<void> {
    const since = performance.now();
    for (let wait = FIRST_PROBE_MS; !closed; wait *= 2) {
      await sleep(Math.min(wait, LAST_PROBE_MS) * (0.75 + Math.random() / 2));
      if (closed) return;
      const candidate = await createClient(options);
      try {
        await within(
          candidate.sql.unsafe("select 1"),
          options.connectTimeoutMs,
        );
      } catch {
        await candidate.end(0);
        continue;
      }
      if (closed) return await candidate.end(0);
      client = Promise.resolve(candidate);
      outage = undefined;
      options.logger.info("store.up", {
        down_ms: Math.round(performance.now() - since),
      });
      return;
    }
  }

  async function ready(): Promise<PostgresClient> {
    if (outage !== undefined) {
      await Promise.race([outage.over, sleep(RECONNECT_PATIENCE_MS)]);
    }
    if (closed || outage !== undefined) {
      throw storeUnavailable(closed ? "closed" : "reconnecting");
    }
    return await (client ??= createClient(options));
  }

  async function run(
    statement: string,
    parameters: readonly JsonValue[],
  ): Promise<readonly SqlRow[]> {
    const current = await ready();
    const startedAt = performance.now();
    try {
      const rows = await within(
        current.sql.unsafe(statement, parameters as never[], {
          prepare: options.address.prepare,
        }),
        options.statementTimeoutMs,
      );
      lastSuccessAt = performance.now();
      current.succeeded();
      return rows as unknown as readonly SqlRow[];
    } catch (error) {
      const code = sqlCodeOf(error);
      // Closed by the server: one backend ended, or all did; the next attempt shows which.
      if (isConnectionFault(error) && !/CLOSED$|^57P01$/.test(code ?? "")) {
        if (lastSuccessAt < startedAt) suspect(error);
      } else if (code === "CONNECTION_ATTEMPTS_CLOSED") suspect(error);
      throw error;
    }
  }

  return {
    async query(statement, parameters, signal) {
      signal?.throwIfAborted();
      if (pending >= options.maxPending) {
        throw storeUnavailable("too many statements wait");
      }
      pending++;
      try {
        const result = run(statement, parameters);
        return signal === undefined
          ? await result
          : await until(result, signal);
      } finally {
        pending--;
      }
    },
    async close() {
      closed = true;
      const last = client;
      client = undefined;
      await last?.then((one) => one.end(2000), () => {});
    },
  };
}
