/**
 * A migrated PostgreSQL database of one test's own, on a real server.
 *
 * One throwaway server serves all files of a `deno test` process and ends with
 * it. Where PostgreSQL is not installed the tests are ignored, visibly; with
 * `CYBEROS_REQUIRE_POSTGRES=1` they fail instead.
 */
import postgres from "postgres";
import { migrate } from "../../bridge/store/migrate.ts";
import { openMigrationSession } from "../../bridge/store/postgres.ts";
import {
  cluster,
  findPostgres,
  type PostgresCluster,
  startCluster,
} from "./postgres_cluster.ts";

const TEMPLATE = "cyberos_template";
const BRIDGE_LOGIN = "bridge_login";

/** A database with our migrations applied, and the logins of a real installation. */
export interface TestDatabase {
  readonly name: string;
  /** For `migrate`: a superuser. */
  readonly ownerUrl: string;
  /** For the bridge: a login whose only grant is `cyberos_bridge`. */
  readonly bridgeUrl: string;
  /** A URL of any role. */
  url(user: string): string;
  /** Runs SQL as superuser. */
  admin(
    sql: string,
    parameters?: readonly unknown[],
  ): Promise<readonly Record<string, unknown>[]>;
}

const bin = findPostgres();
const required = Deno.env.get("CYBEROS_REQUIRE_POSTGRES") === "1";

/** Whether tests that need PostgreSQL are to be ignored here. */
export const WITHOUT_POSTGRES: boolean = bin === undefined && !required;

/** The server programs' folder, for tests that start servers of their own. */
export function postgresPrograms(): string {
  if (bin === undefined) {
    throw new Error(
      "PostgreSQL is not installed, and CYBEROS_REQUIRE_POSTGRES asks for it",
    );
  }
  return bin;
}

/** What {@link withPostgres} may be told. */
export interface WithPostgresOptions {
  /** An empty database instead of a migrated one. */
  readonly empty?: boolean;
}

/** Runs with a database that nobody else uses, and removes it however the run ends. */
export async function withPostgres(
  run: (database: TestDatabase) => Promise<void>,
  options: WithPostgresOptions = {},
): Promise<void> {
  const server = await sharedCluster();
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  await asAdmin(
    server,
    "postgres",
    `create database ${name} ${options.empty ? "" : `template ${TEMPLATE}`}`,
  );
  const sql = adminClient(server, name);
  try {
    await run({
      name,
      ownerUrl: server.url("postgres", name),
      bridgeUrl: server.url(BRIDGE_LOGIN, name),
      url: (user) => server.url(user, name),
      admin: async (text, parameters = []) =>
        [
          ...await sql.unsafe(text, parameters as never[]),
        ] as Record<string, unknown>[],
    });
  } finally {
    await sql.end({ timeout: 2 });
    await asAdmin(server, "postgres", `drop database ${name} with (force)`);
  }
}

/** `Deno.test` for a test on PostgreSQL: ignored where there is none, unless one is required. */
export function postgresTest(
  name: string,
  run: (database: TestDatabase) => Promise<void>,
  options: WithPostgresOptions = {},
): void {
  Deno.test({
    name,
    ignore: WITHOUT_POSTGRES,
    fn: () => withPostgres(run, options),
  });
}

/** Prepares a server of a test's own as the shared one is prepared, and names its database. */
export async function prepareServer(
  server: PostgresCluster,
): Promise<{ readonly ownerUrl: string; readonly bridgeUrl: string }> {
  await asAdmin(server, "postgres", `create database ${TEMPLATE}`);
  await asAdmin(server, "postgres", `create role ${BRIDGE_LOGIN} login`);
  const ownerUrl = server.url("postgres", TEMPLATE);
  await using session = await openMigrationSession(ownerUrl);
  await migrate(session);
  await session.script(`grant cyberos_bridge to ${BRIDGE_LOGIN}`);
  return { ownerUrl, bridgeUrl: server.url(BRIDGE_LOGIN, TEMPLATE) };
}

/** A superuser's connection to any database. */
export function connectAdmin(
  url: string,
): AsyncDisposable & {
  run(sql: string): Promise<readonly Record<string, unknown>[]>;
} {
  const sql = postgres(url, {
    max: 1,
    onnotice: () => {},
    fetch_types: false,
    connect_timeout: 5,
  });
  return {
    run: async (text) => [...await sql.unsafe(text)],
    [Symbol.asyncDispose]: () => sql.end({ timeout: 2 }),
  };
}

// Test files run in isolates of one process: the first one starts the server,
// and the others find it by this file.
async function sharedCluster(): Promise<PostgresCluster> {
  const programs = postgresPrograms();
  const note = `${tempDir()}/cyberos-pg-${Deno.pid}.json`;
  using lock = await Deno.open(note, { read: true, write: true, create: true });
  await lock.lock(true);
  const known = await Deno.readTextFile(note);
  if (known !== "") {
    const { dir, port } = JSON.parse(known);
    if (await exists(dir)) return cluster(programs, dir, port);
  }
  const server = await startCluster(programs, { notes: [note] });
  await prepareServer(server);
  const { dir, port } = server;
  await Deno.writeTextFile(note, JSON.stringify({ dir, port }));
  return server;
}

function tempDir(): string {
  return Deno.env.get("TMPDIR") ?? "/tmp";
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}

function adminClient(server: PostgresCluster, name: string): postgres.Sql {
  return postgres(server.url("postgres", name), {
    max: 2,
    onnotice: () => {},
    fetch_types: false,
  });
}

async function asAdmin(
  server: PostgresCluster,
  database: string,
  statement: string,
): Promise<void> {
  const sql = adminClient(server, database);
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 2 });
  }
}
