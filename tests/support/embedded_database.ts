/** PGlite in memory with all migrations and the bridge's role, as `--embedded` has it. */
import { PGlite } from "@electric-sql/pglite";
import type { SqlDriver, SqlRow } from "../../bridge/ports.ts";
import { BOOTSTRAP, MIGRATIONS } from "../../migrations/mod.ts";

/** A database of one test file's own. */
export interface EmbeddedDatabase {
  /** Bound to the bridge's role. */
  readonly driver: SqlDriver;
  /** Runs SQL as the superuser, for what a test must break. */
  admin(sql: string): Promise<readonly SqlRow[]>;
  close(): Promise<void>;
}

/** Makes the database: a second or two. */
export async function embeddedDatabase(): Promise<EmbeddedDatabase> {
  const db = await PGlite.create();
  await db.transaction(async (tx) => {
    await tx.exec(BOOTSTRAP);
    for (const { sql } of MIGRATIONS) await tx.exec(sql);
  });
  await db.exec("set role cyberos_bridge");
  return {
    driver: {
      query: async (statement, parameters) =>
        (await db.query<SqlRow>(statement, [...parameters])).rows,
      listen: () => Promise.reject(new Error("not in this test")),
      close: () => db.close(),
    },
    admin: async (sql) => {
      await db.exec("reset role");
      try {
        const results = await db.exec(sql);
        return (results.at(-1)?.rows ?? []) as SqlRow[];
      } finally {
        await db.exec("set role cyberos_bridge");
      }
    },
    close: () => db.close(),
  };
}
