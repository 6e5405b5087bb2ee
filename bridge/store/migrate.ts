/**
 * Brings a database to the newest version: forward only, each migration one
 * transaction, safe when two run at once.
 */
import { BOOTSTRAP, type Migration, MIGRATIONS } from "../../migrations/mod.ts";
import type { SqlRow } from "../ports.ts";
import { sqlCodeOf } from "./sql_error.ts";

/** What migrating needs of a connection. */
export interface MigrationSession {
  /** Runs statements as one transaction. */
  script(statements: string): Promise<void>;
  query(statement: string): Promise<readonly SqlRow[]>;
}

/** Why a database is left as it is. */
export type MigrationErrorCode = "DATABASE_NEWER" | "CHECKSUM_CHANGED";

/** A refusal to migrate. Nothing was changed. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
  readonly code: MigrationErrorCode;
  readonly hint: string;

  constructor(code: MigrationErrorCode, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** A migration, by number and name. */
export interface MigrationStep {
  readonly version: number;
  readonly name: string;
}

/** What {@link migrate} did, or with `dryRun` would do. */
export interface MigrationReport {
  readonly before: readonly MigrationStep[];
  readonly applied: readonly MigrationStep[];
}

/** What {@link migrate} may be told. */
export interface MigrateOptions {
  /** Changes nothing and says what would be applied. */
  readonly dryRun?: boolean;
  /** Whether the database is the one that `--embedded` brings along. */
  readonly embedded?: boolean;
  /** Instead of our own; for tests. */
  readonly migrations?: readonly Migration[];
}

interface Applied extends MigrationStep {
  readonly checksum: string;
}

// Held to the end of each script: a second migration at the same time waits,
// and then finds that its version is recorded.
const LOCK = "select pg_advisory_xact_lock(1129926400);\n";
const AS_OWNER = "select set_config('role', 'cyberos_owner', true);\n";

/**
 * Applies what the database lacks.
 *
 * @throws {MigrationError} when the database is newer than this program, or an
 * applied migration is not what this program knows under its number.
 */
export async function migrate(
  session: MigrationSession,
  options: MigrateOptions = {},
): Promise<MigrationReport> {
  const known = (options.migrations ?? MIGRATIONS)
    .filter(({ scope }) => scope === "everywhere" || options.embedded === true);
  const checksums = new Map(
    await Promise.all(
      known.map(async ({ version, sql }) =>
        [version, await sha256(sql)] as const
      ),
    ),
  );
  let applied = await readApplied(session);
  const before = (applied ?? []).map(step);
  check(applied ?? [], checksums);
  const missing = (): readonly Migration[] =>
    known.filter(({ version }) =>
      !(applied ?? []).some((one) => one.version === version)
    );
  if (options.dryRun) return { before, applied: missing().map(step) };

  if (applied === undefined) await session.script(LOCK + BOOTSTRAP);
  const done: MigrationStep[] = [];
  for (const migration of missing()) {
    const checksum = checksums.get(migration.version) as string;
    if (await apply(session, migration, checksum)) done.push(step(migration));
    else {
      applied = await readApplied(session);
      check(applied ?? [], checksums);
    }
  }
  return { before, applied: done };
}

/** False when another process applied it first. */
async function apply(
  session: MigrationSession,
  { version, name, sql }: Migration,
  checksum: string,
): Promise<boolean> {
  const record =
    `insert into plugin_host.migrations (version, name, checksum) values (${version}, '${name}', '${checksum}');\n`;
  try {
    await session.script(LOCK + AS_OWNER + record + sql);
    return true;
  } catch (error) {
    if (sqlCodeOf(error) !== "23505") throw error;
    const now = await readApplied(session);
    if (now?.some((one) => one.version === version)) return false;
    throw error;
  }
}

/** Undefined where there is no record yet. */
async function readApplied(
  session: MigrationSession,
): Promise<readonly Applied[] | undefined> {
  const [there] = await session.query(
    "select to_regclass('plugin_host.migrations') is not null as there",
  );
  if (there?.there !== true) return undefined;
  const rows = await session.query(
    "select version, name, checksum from plugin_host.migrations order by version",
  );
  return rows as unknown as readonly Applied[];
}

function check(
  applied: readonly Applied[],
  checksums: ReadonlyMap<number, string>,
): void {
  const newest = Math.max(...checksums.keys());
  for (const { version, name, checksum } of applied) {
    if (version > newest) {
      throw new MigrationError(
        "DATABASE_NEWER",
        `Cannot migrate: the database has migration ${version} "${name}", which this program does not know`,
        "Use the version of cyberos-mcp-bridge that applied it, or a later one.",
      );
    }
    const expected = checksums.get(version);
    if (expected !== undefined && expected !== checksum) {
      throw new MigrationError(
        "CHECKSUM_CHANGED",
        `Cannot migrate: migration ${version} "${name}" was applied with another text`,
        "Released migrations are frozen: use an unmodified release of cyberos-mcp-bridge.",
      );
    }
  }
}

function step({ version, name }: MigrationStep): MigrationStep {
  return { version, name };
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(text),
  );
  return Array.from(
    new Uint8Array(digest),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
}
