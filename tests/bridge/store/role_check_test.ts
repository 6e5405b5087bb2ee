import assert from "node:assert/strict";
import type { BridgeError } from "../../../bridge/errors.ts";
import { createPostgresDriver } from "../../../bridge/store/postgres.ts";
import { checkBridgeRole } from "../../../bridge/store/role_check.ts";
import { createTaskStore } from "../../../bridge/store/task_store.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import { postgresTest, type TestDatabase } from "../../support/postgres.ts";
import { newOwner, newTask, WIDE } from "./fixtures.ts";

/** What the bridge says of a login, or `ok`. */
async function verdict(url: string): Promise<string> {
  const driver = createPostgresDriver({ url, logger: new FakeLogger() });
  try {
    await checkBridgeRole(driver);
    return "ok";
  } catch (error) {
    const { code, message, hint } = error as BridgeError;
    assert.equal(code, "STORE_UNAVAILABLE");
    return `${message}: ${hint}`;
  } finally {
    await driver.close();
  }
}

async function withRole(
  database: TestDatabase,
  attributes: string,
  grants: readonly string[],
): Promise<string> {
  const role = `r_${crypto.randomUUID().slice(0, 8)}`;
  await database.admin(`create role ${role} login ${attributes}`);
  for (const grant of grants) await database.admin(`grant ${grant} to ${role}`);
  try {
    return await verdict(database.url(role));
  } finally {
    await database.admin(`drop role ${role}`);
  }
}

postgresTest(
  "the bridge accepts a login that only has cyberos_bridge",
  async (database) => {
    assert.equal(await verdict(database.bridgeUrl), "ok");
  },
);

postgresTest(
  "the bridge refuses a superuser, an owner and a role that bypasses policies",
  async (database) => {
    assert.match(
      await verdict(database.ownerUrl),
      /superuser.*cyberos_bridge/s,
    );
    assert.match(
      await withRole(database, "bypassrls", ["cyberos_bridge"]),
      /bypasses row-level security/,
    );
    assert.match(
      await withRole(database, "", ["cyberos_bridge", "cyberos_owner"]),
      /owns the task store/,
    );
    await database.admin("create role disguised login superuser");
    await database.admin("alter role disguised set role cyberos_bridge");
    try {
      assert.match(
        await verdict(database.url("disguised")),
        /changes its role/,
      );
    } finally {
      await database.admin("drop role disguised");
    }
    await database.admin("create role sneaky bypassrls nologin");
    try {
      assert.match(
        await withRole(database, "", ["cyberos_bridge", "sneaky"]),
        /bypasses/,
        "nor one that could become such a role",
      );
    } finally {
      await database.admin("drop role sneaky");
    }
  },
);

postgresTest(
  "the bridge refuses a database whose policies were loosened",
  async (database) => {
    const table = "plugin_host.tasks";
    const loosened: readonly (readonly [string, string, RegExp])[] = [
      [
        `alter table ${table} no force row level security`,
        `alter table ${table} force row level security`,
        /not forced/,
      ],
      [
        `alter table ${table} disable row level security`,
        `alter table ${table} enable row level security`,
        /not forced/,
      ],
      [
        `create policy all_of_it on ${table} using (true)`,
        `drop policy all_of_it on ${table}`,
        /do not keep tenants apart/,
      ],
      [
        `alter policy tasks_rls on ${table} using (true)`,
        `alter policy tasks_rls on ${table} using (tenant_id = (select plugin_host.current_tenant()))`,
        /do not keep tenants apart/,
      ],
    ];
    for (const [loosen, tighten, refusal] of loosened) {
      await database.admin(loosen);
      assert.match(await verdict(database.bridgeUrl), refusal, loosen);
      await database.admin(tighten);
      assert.equal(await verdict(database.bridgeUrl), "ok", tighten);
    }
  },
);

postgresTest(
  "without migrate, or without the grant, the hint says what to do",
  async (database) => {
    const migrate = /The operator must run cyberos-mcp-bridge migrate/;
    assert.match(await verdict(database.url("postgres")), migrate);
    assert.match(await withRole(database, "", []), migrate);
  },
  { empty: true },
);

postgresTest(
  "a store on a refused login does nothing at all",
  async (database) => {
    const driver = createPostgresDriver({
      url: database.ownerUrl,
      logger: new FakeLogger(),
    });
    const store = createTaskStore({
      driver,
      instanceId: "i",
      leaseMs: 1000,
      pluginId: "p",
    });
    try {
      await assert.rejects(store.create(newTask(), WIDE), /superuser/);
      await assert.rejects(
        store.get(newOwner(), newTask().taskId),
        /superuser/,
      );
      const status = await store.status(AbortSignal.timeout(2000));
      assert.equal(status.state, "down");
      assert.match(status.detail ?? "", /superuser.*grant cyberos_bridge/s);
      const rows = await database.admin("select from plugin_host.tasks");
      assert.equal(rows.length, 0);
    } finally {
      await driver.close();
    }
  },
);
