/** The SQL driver over PostgreSQL. */
import type { Logger, SqlDriver, SqlRow } from "../ports.ts";
import type { MigrationSession } from "./migrate.ts";
import { createClient } from "./postgres_client.ts";
import { createListener } from "./postgres_listener.ts";
import { createPool } from "./postgres_pool.ts";
import { parsePostgresUrl } from "./postgres_url.ts";
import { translateSqlError } from "./sql_error.ts";

/** What the driver is told. */
export interface PostgresOptions {
  /** As {@link parsePostgresUrl} reads it, of the bridge's own role. */
  readonly url: string;
  readonly logger: Logger;
  /** Connections, besides the one that listens. */
  readonly poolSize?: number;
  readonly connectTimeoutMs?: number;
  /** The patience with one statement. */
  readonly statementTimeoutMs?: number;
}

/**
 * Makes the driver; nothing is loaded or connected before its first use.
 *
 * An object or array among the parameters goes as JSON text; a string bound to
 * a `json` parameter is taken for JSON text already.
 */
export function createPostgresDriver(options: PostgresOptions): SqlDriver {
  const address = parsePostgresUrl(options.url);
  const connectTimeoutMs = options.connectTimeoutMs ?? 3000;
  const max = options.poolSize ?? 10;
  const pool = createPool({
    address,
    max,
    connectTimeoutMs,
    statementTimeoutMs: options.statementTimeoutMs ?? 5000,
    maxWaiting: max * 100,
    logger: options.logger,
  });
  const listener = createListener({
    address,
    connectTimeoutMs,
    logger: options.logger,
  });
  return {
    async query(statement, parameters, { signal } = {}) {
      try {
        return await pool.query(statement, parameters, signal);
      } catch (error) {
        throw translateSqlError(error);
      }
    },
    listen: listener.listen,
    async close() {
      await Promise.all([listener.close(), pool.close()]);
    },
  };
}

/** A connection for migrating, closed with `await using` or {@link AsyncDisposable}. */
export async function openMigrationSession(
  url: string,
  connectTimeoutMs = 10_000,
): Promise<MigrationSession & AsyncDisposable> {
  const client = await createClient({
    address: parsePostgresUrl(url),
    connectTimeoutMs,
  });
  return {
    async script(statements) {
      await client.sql.unsafe(statements).simple();
    },
    async query(statement) {
      return await client.sql.unsafe(statement) as unknown as readonly SqlRow[];
    },
    [Symbol.asyncDispose]: () => client.end(2000),
  };
}
