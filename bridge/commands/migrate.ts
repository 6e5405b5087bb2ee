/** Makes or updates the task tables, as the database's owner. */
import type { LaunchMessage } from "../sandbox/launch_message.ts";
import type { MigrationReport, MigrationStep } from "../store/migrate.ts";
import { ownFlags, print } from "./own_flags.ts";

const NO_URL = `cyberos-mcp-bridge migrate needs the database owner's URL:
  set CYBEROS_OWNER_DATABASE_URL to postgres://owner:password@host:5432/database`;

/** Gives 0 when the database is up to date (or would be), 1 when it was refused, 2 without a URL. */
export async function migrate(message: LaunchMessage): Promise<number> {
  const flags = ownFlags(message.args);
  const url = message.config.ownerDatabaseUrl;
  if (url === undefined) {
    print("stderr", NO_URL);
    return 2;
  }
  const dryRun = flags.has("dry-run");
  try {
    const report = await run(url, dryRun);
    if (flags.has("json")) {
      print("stdout", JSON.stringify({ dry_run: dryRun, ...report }));
    } else print("stderr", summary(report, dryRun));
    return 0;
  } catch (error) {
    print("stderr", refusal(error));
    return 1;
  }
}

async function run(url: string, dryRun: boolean): Promise<MigrationReport> {
  const { openMigrationSession } = await import("../store/postgres.ts");
  const store = await import("../store/migrate.ts");
  await using session = await openMigrationSession(url);
  return await store.migrate(session, { dryRun });
}

function summary(
  { before, applied }: MigrationReport,
  dryRun: boolean,
): string {
  if (applied.length === 0) {
    return `The database is up to date: ${before.length} migrations are applied`;
  }
  const lines = applied.map((step) => `  ${named(step)}`).join("\n");
  return dryRun
    ? `Would apply:\n${lines}\nNothing was changed`
    : `Applied:\n${lines}\nNow grant cyberos_bridge to the bridge's own login`;
}

function named({ version, name }: MigrationStep): string {
  return `${String(version).padStart(4, "0")} ${name}`;
}

function refusal(error: unknown): string {
  const { message, hint } = error as { message?: string; hint?: string };
  const text = message ?? String(error);
  return `cyberos-mcp-bridge migrate: ${text}${
    hint === undefined ? "" : `\n  ${hint}`
  }`;
}
