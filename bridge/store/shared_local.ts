/**
 * One data folder, many bridges: every window of a host starts one. The first
 * has the database open and serves the others; when it ends or is killed,
 * another takes over.
 */
import { MIGRATIONS } from "../../migrations/mod.ts";
import { openFolderLock } from "./folder_lock.ts";
import type { LocalDatabase } from "./local_database.ts";
import {
  type EndpointKind,
  endpointKind,
  type EndpointListener,
  type LocalEndpoint,
  localEndpoint,
} from "./local_endpoint.ts";
import { followDatabase, FollowerRefusedError } from "./local_follower.ts";
import { serveDatabase } from "./local_leader.ts";
import { openPglite } from "./pglite.ts";
import { storeUnavailable } from "./sql_error.ts";
import { sleep } from "./timing.ts";

/** What {@link joinFolder} may be told; for tests. */
export interface JoinOptions {
  readonly kind?: EndpointKind;
  /** Opens the database in a folder. */
  readonly open?: (dataDir: string) => Promise<LocalDatabase>;
  readonly schema?: number;
  readonly patienceMs?: number;
  readonly helloMs?: number;
}

const PATIENCE_MS = 20_000;
const RETRY_MS = 50;
const NEWEST: number = Math.max(...MIGRATIONS.map(({ version }) => version));

/**
 * Joins those who share the folder, as the one that has the database or as one
 * of the others.
 *
 * @param dataDir Made if it is not there, for this user alone.
 * @throws {BridgeError} `STORE_UNAVAILABLE` with a hint.
 */
export async function joinFolder(
  dataDir: string,
  options: JoinOptions = {},
): Promise<LocalDatabase> {
  const schema = options.schema ?? NEWEST;
  const endpoint = localEndpoint(
    dataDir,
    options.kind ?? endpointKind(dataDir),
  );
  await prepareFolder(dataDir);
  const lock = await openFolderLock(dataDir);
  let kept = false;
  try {
    const until = performance.now() + (options.patienceMs ?? PATIENCE_MS);
    while (performance.now() < until) {
      if (await lock.tryAcquire()) {
        const database = await lead(dataDir, endpoint, {
          ...options,
          schema,
        });
        kept = true;
        void database.ended.then(lock.release);
        return database;
      }
      const followed = await follow(endpoint, schema);
      if (followed !== undefined) return followed;
      await sleep(RETRY_MS * (0.5 + Math.random()));
    }
  } finally {
    if (!kept) lock.release();
  }
  throw storeUnavailable(
    "the folder is locked and nobody answers",
    "Another program holds the embedded data folder and does not answer: end it, or name another folder with --data-dir.",
  );
}

async function prepareFolder(dataDir: string): Promise<void> {
  try {
    await Deno.mkdir(dataDir, { recursive: true, mode: 0o700 });
    if (Deno.build.os !== "windows") await Deno.chmod(dataDir, 0o700);
  } catch (error) {
    throw storeUnavailable(
      error,
      "The embedded data folder cannot be made: choose one that is yours with --data-dir, or keep nothing with --ephemeral.",
    );
  }
}

async function lead(
  dataDir: string,
  endpoint: LocalEndpoint,
  { open = openPglite, schema, ...times }: JoinOptions & { schema: number },
): Promise<LocalDatabase> {
  try {
    const place = await listenIfAllowed(endpoint);
    const database = open(`${dataDir}/db`);
    return place === undefined
      ? await database
      : await serveDatabase({ endpoint: place, database, schema, ...times });
  } catch (error) {
    throw storeUnavailable(
      error,
      "The embedded data cannot be opened. If it is damaged or of another version, cyberos-mcp-bridge reset --embedded clears it.",
    );
  }
}

/** Undefined where the command line grants no socket: then this process works alone. */
async function listenIfAllowed(
  endpoint: LocalEndpoint,
): Promise<EndpointListener | undefined> {
  try {
    return await endpoint.listen();
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/** Undefined when nobody is there (any more, or yet). */
async function follow(
  endpoint: LocalEndpoint,
  schema: number,
): Promise<LocalDatabase | undefined> {
  try {
    return await followDatabase(await endpoint.connect(), schema);
  } catch (error) {
    if (error instanceof FollowerRefusedError) {
      throw storeUnavailable(error, `${error.message}.`);
    }
    return undefined;
  }
}
