/** A database that may end and be opened again, as the driver of `--embedded` sees it. */
import type { JsonValue } from "../../schema/json.ts";
import type { Logger, SqlDriver, SqlRow } from "../ports.ts";
import { storeUnavailable, translateSqlError } from "./sql_error.ts";
import { createAlarm, until, within } from "./timing.ts";

/** An open database: in this process, or another process's. */
export interface LocalDatabase {
  query(
    statement: string,
    parameters: readonly JsonValue[],
  ): Promise<readonly SqlRow[]>;
  listen(channel: string): void;
  /** Told of every NOTIFY on the channels listened to. */
  onNotify: (channel: string, payload: string) => void;
  /** Resolves when it has ended, by itself or by `close`. Never rejects. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** What {@link createLocalDriver} is told. */
export interface LocalDriverOptions {
  readonly open: () => Promise<LocalDatabase>;
  readonly logger: Logger;
  /** Patience with one statement, opening included. */
  readonly statementTimeoutMs?: number;
}

interface Subscription {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  readonly onReady: (() => void) | undefined;
}

// The first opening unpacks a data folder; on a busy machine that takes its time.
const STATEMENT_MS = 30_000;
const REOPEN_FIRST_MS = 20;
const REOPEN_LAST_MS = 1000;
const MAX_PENDING = 1000;

/** Makes the driver; it opens the database on first use, and again when it ended without being asked. */
export function createLocalDriver(options: LocalDriverOptions): SqlDriver {
  const subscriptions = new Set<Subscription>();
  let current: Promise<LocalDatabase> | undefined;
  const alarm = createAlarm();
  let pending = 0;
  let closed = false;

  function database(): Promise<LocalDatabase> {
    return current ??= open();
  }

  async function open(): Promise<LocalDatabase> {
    try {
      const opened = await options.open();
      opened.onNotify = (channel, payload) => {
        for (const one of subscriptions) {
          if (one.channel === channel) one.onNotify(payload);
        }
      };
      for (const one of subscriptions) subscribe(opened, one);
      void opened.ended.then(reopen);
      return opened;
    } catch (error) {
      current = undefined;
      options.logger.warn("store.embedded_unavailable", {
        reason: error instanceof Error ? error.message : String(error),
      });
      throw error;
    }
  }

  /** Somebody listens: do not wait for the next statement. */
  async function reopen(): Promise<void> {
    current = undefined;
    for (
      let wait = REOPEN_FIRST_MS;;
      wait = Math.min(wait * 2, REOPEN_LAST_MS)
    ) {
      await alarm.wait(wait);
      if (closed || subscriptions.size === 0 || current !== undefined) return;
      await database().catch(() => {});
    }
  }

  function subscribe(opened: LocalDatabase, one: Subscription): void {
    opened.listen(one.channel);
    one.onReady?.();
  }

  async function run(
    statement: string,
    parameters: readonly JsonValue[],
  ): Promise<readonly SqlRow[]> {
    const texts = parameters.map((value) =>
      typeof value === "object" && value !== null
        ? JSON.stringify(value)
        : value
    );
    const opened = await database();
    return await opened.query(statement, texts);
  }

  return {
    async query(statement, parameters, { signal } = {}) {
      signal?.throwIfAborted();
      if (closed) throw storeUnavailable("closed");
      if (pending >= MAX_PENDING) throw storeUnavailable("too many statements");
      pending++;
      try {
        const rows = within(
          run(statement, parameters),
          options.statementTimeoutMs ?? STATEMENT_MS,
        );
        return signal === undefined ? await rows : await until(rows, signal);
      } catch (error) {
        throw translateSqlError(error);
      } finally {
        pending--;
      }
    },
    async listen(channel, onNotify, onReady) {
      const subscription = { channel, onNotify, onReady };
      subscriptions.add(subscription);
      const opened = await current?.catch(() => undefined);
      if (opened === undefined) void database().catch(() => {});
      else subscribe(opened, subscription);
      return {
        stop() {
          subscriptions.delete(subscription);
          return Promise.resolve();
        },
      };
    },
    async close() {
      closed = true;
      subscriptions.clear();
      const last = await current?.catch(() => undefined);
      await last?.close();
    },
  };
}
