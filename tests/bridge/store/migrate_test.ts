import assert from "node:assert/strict";
import { migrate, MigrationError } from "../../../bridge/store/migrate.ts";
import { openMigrationSession } from "../../../bridge/store/postgres.ts";
import { MIGRATIONS } from "../../../migrations/mod.ts";
import { postgresTest } from "../../support/postgres.ts";

const EVERYWHERE = MIGRATIONS.filter(({ scope }) => scope === "everywhere");

postgresTest(
  "migrate applies everything once, and then nothing",
  async (database) => {
    await using session = await openMigrationSession(database.ownerUrl);
    const first = await migrate(session);
    assert.deepEqual(first.before, []);
    assert.equal(first.applied.length, EVERYWHERE.length);
    const second = await migrate(session);
    assert.deepEqual(second.applied, []);
    assert.deepEqual(second.before, first.applied);
  },
  { empty: true },
);

postgresTest(
  "migrate --dry-run says what it would do and changes nothing",
  async (database) => {
    await using session = await openMigrationSession(database.ownerUrl);
    const plan = await migrate(session, { dryRun: true });
    assert.equal(plan.applied.length, EVERYWHERE.length);
    const [row] = await database.admin(
      "select to_regnamespace('plugin_host') is null as absent",
    );
    assert.equal(row?.absent, true);
  },
  { empty: true },
);

postgresTest("migrate is safe when several run at once", async (database) => {
  const reports = await Promise.all(
    Array.from({ length: 6 }, async () => {
      await using session = await openMigrationSession(database.ownerUrl);
      return await migrate(session);
    }),
  );
  const applied = reports.flatMap((report) => report.applied);
  assert.equal(applied.length, EVERYWHERE.length, "each migration by one run");
  const rows = await database.admin(
    "select version from plugin_host.migrations",
  );
  assert.equal(rows.length, EVERYWHERE.length);
}, { empty: true });

postgresTest(
  "migrate refuses a database newer than itself",
  async (database) => {
    await using session = await openMigrationSession(database.ownerUrl);
    await session.script(
      `insert into plugin_host.migrations (version, name, checksum) values (9999, 'of_tomorrow', '${
        "0".repeat(64)
      }')`,
    );
    await assert.rejects(migrate(session), (error: MigrationError) => {
      assert.equal(error.code, "DATABASE_NEWER");
      assert.match(error.message, /9999/);
      return true;
    });
    await assert.rejects(migrate(session, { dryRun: true }), MigrationError);
  },
);

postgresTest(
  "migrate refuses a migration whose text has changed since",
  async (database) => {
    await using session = await openMigrationSession(database.ownerUrl);
    const changed = MIGRATIONS.map((one) => ({ ...one, sql: `${one.sql}\n` }));
    await assert.rejects(
      migrate(session, { migrations: changed }),
      (error: MigrationError) => error.code === "CHECKSUM_CHANGED",
    );
    assert.deepEqual((await migrate(session)).applied, [], "and takes its own");
  },
);

postgresTest(
  "a migration that fails leaves nothing behind",
  async (database) => {
    await using session = await openMigrationSession(database.ownerUrl);
    const broken = [...MIGRATIONS, {
      version: 9000,
      name: "broken",
      scope: "everywhere" as const,
      sql: "create table plugin_host.half (); select 1 / 0;",
    }];
    await assert.rejects(migrate(session, { migrations: broken }), /division/);
    const [row] = await database.admin(
      "select to_regclass('plugin_host.half') is null as absent",
    );
    assert.equal(row?.absent, true);
    assert.deepEqual((await migrate(session)).applied, []);
  },
);

postgresTest(
  "migrate works for a login that is no superuser",
  async (database) => {
    const role = `deploy_${database.name.slice(-8)}`;
    await database.admin(`create role ${role} login`);
    await database.admin(`grant cyberos_owner to ${role}`);
    await database.admin(
      `grant create on database ${database.name} to ${role}`,
    );
    try {
      await using session = await openMigrationSession(database.url(role));
      const report = await migrate(session);
      assert.equal(report.applied.length, EVERYWHERE.length);
    } finally {
      await database.admin(`drop owned by ${role}`);
      await database.admin(`drop role ${role}`);
    }
  },
  { empty: true },
);
