/// <reference lib="webworker" />
/**
 * The thread that runs PGlite, so that its long computations hold nobody up.
 * It migrates, becomes the bridge's role for good, and only then says so.
 */
import { PGlite } from "@electric-sql/pglite";
import type { SqlRow } from "../ports.ts";
import { migrate } from "./migrate.ts";
import type { PgliteReply, PgliteRequest } from "./pglite_messages.ts";
import { sqlCodeOf } from "./sql_error.ts";

let database: Promise<PGlite> | undefined;
/** Channels that are listened to. */
const heard = new Set<string>();

function reply(message: PgliteReply): void {
  self.postMessage(message);
}

async function open(dataDir: string | undefined): Promise<PGlite> {
  const db = await PGlite.create({
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(await isNew(dataDir) ? { loadDataDir: await seed() } : {}),
  });
  await migrate({
    script: async (statements) => {
      await db.exec(statements);
    },
    query: async (statement) =>
      (await db.query(statement)).rows as readonly SqlRow[],
  }, { embedded: true });
  // The user that it starts as is a superuser, whom no policy binds.
  await db.exec("set role cyberos_bridge");
  await assertBound(db);
  return db;
}

async function assertBound(db: PGlite): Promise<void> {
  const { rows } = await db.query<{ bound: boolean }>(
    `select not (rolsuper or rolbypassrls) and row_security_active('plugin_host.tasks') as bound
     from pg_catalog.pg_roles where rolname = current_user`,
  );
  if (rows[0]?.bound !== true) {
    throw new Error("Row-level security does not bind the embedded database");
  }
}

async function isNew(dataDir: string | undefined): Promise<boolean> {
  if (dataDir === undefined) return true;
  try {
    await Deno.stat(`${dataDir}/PG_VERSION`);
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return true;
    throw error;
  }
}

async function seed(): Promise<Blob> {
  const { default: { tarGzip } } = await import("./pglite_seed.json", {
    with: { type: "json" },
  });
  return new Blob([
    Uint8Array.from(atob(tarGzip), (char) => char.charCodeAt(0)),
  ]);
}

async function handle(request: PgliteRequest): Promise<void> {
  if (request.type === "open") {
    database = open(request.dataDir);
    await database;
    return reply({ type: "opened" });
  }
  const db = await (database as Promise<PGlite>);
  switch (request.type) {
    case "query": {
      const { id, statement, parameters } = request;
      try {
        const { rows } = await db.query(statement, [...parameters]);
        reply({ type: "rows", id, rows: rows as readonly SqlRow[] });
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const code = sqlCodeOf(error);
        reply({
          type: "refused",
          id,
          error: code === undefined ? { message } : { message, code },
        });
      }
      return;
    }
    case "listen": {
      const { channel } = request;
      // PGlite would tell every one who ever asked, bridges that have left among them.
      if (heard.has(channel)) return;
      heard.add(channel);
      await db.listen(
        channel,
        (payload) => reply({ type: "notify", channel, payload }),
      );
      return;
    }
    case "close":
      await db.close();
      return reply({ type: "closed" });
  }
}

self.onmessage = (event: MessageEvent<PgliteRequest>) => {
  handle(event.data).catch((error) =>
    reply({
      type: "broken",
      message: error instanceof Error ? error.message : String(error),
    })
  );
};
