/** PostgreSQL inside this process, for `--embedded`. */
import type { SqlRow } from "../ports.ts";
import type { LocalDatabase } from "./local_database.ts";
import {
  type PgliteReply,
  type PgliteRequest,
  toSqlError,
} from "./pglite_messages.ts";
import { within } from "./timing.ts";

const CLOSE_MS = 5000;

/**
 * Opens PGlite on a thread of its own, migrated and as the bridge's role.
 *
 * Exactly one process may have a data folder open: two lose rows without a
 * word. `shared_local.ts` sees to that.
 *
 * @param dataDir Where the data is kept; absent: in memory.
 */
export function openPglite(dataDir?: string): Promise<LocalDatabase> {
  const worker = new Worker(new URL("./pglite_worker.ts", import.meta.url), {
    type: "module",
    name: "pglite",
  });
  const opened = Promise.withResolvers<LocalDatabase>();
  const ended = Promise.withResolvers<void>();
  const waiting = new Map<
    number,
    {
      resolve(rows: readonly SqlRow[]): void;
      reject(error: unknown): void;
    }
  >();
  let nextId = 0;
  let over = false;

  const send = (request: PgliteRequest): void => worker.postMessage(request);
  const end = (message: string): void => {
    if (over) return;
    over = true;
    const error = toSqlError({ message, code: "EMBEDDED_CLOSED" });
    opened.reject(error);
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    worker.terminate();
    ended.resolve();
  };
  const database: LocalDatabase = {
    onNotify: () => {},
    ended: ended.promise,
    query(statement, parameters) {
      if (over) {
        return Promise.reject(
          toSqlError({
            message: "The embedded database has ended",
            code: "EMBEDDED_CLOSED",
          }),
        );
      }
      const id = nextId++;
      send({ type: "query", id, statement, parameters });
      return new Promise((resolve, reject) =>
        waiting.set(id, { resolve, reject })
      );
    },
    listen: (channel) => send({ type: "listen", channel }),
    async close() {
      if (over) return;
      send({ type: "close" });
      await within(ended.promise, CLOSE_MS).catch(() => {});
      end("The embedded database does not close");
    },
  };

  worker.onmessage = ({ data }: MessageEvent<PgliteReply>) => {
    switch (data.type) {
      case "opened":
        return opened.resolve(database);
      case "broken":
        return end(data.message);
      case "rows":
        waiting.get(data.id)?.resolve(data.rows);
        return void waiting.delete(data.id);
      case "refused":
        waiting.get(data.id)?.reject(toSqlError(data.error));
        return void waiting.delete(data.id);
      case "notify":
        return database.onNotify(data.channel, data.payload);
      case "closed":
        return end("The embedded database was closed");
    }
  };
  worker.onerror = (event) => {
    event.preventDefault();
    end(event.message);
  };
  send(
    dataDir === undefined ? { type: "open" } : { type: "open", dataDir },
  );
  return opened.promise;
}
