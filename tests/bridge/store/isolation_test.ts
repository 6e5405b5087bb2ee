/** Two tenants on shared connections, whatever happens to those. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { SqlDriver, TaskOwner, TaskStore } from "../../../bridge/ports.ts";
import { BridgeError } from "../../../bridge/errors.ts";
import { createPostgresDriver } from "../../../bridge/store/postgres.ts";
import { createTaskStore } from "../../../bridge/store/task_store.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import { postgresTest, type TestDatabase } from "../../support/postgres.ts";
import { ENDINGS, newOwner, newTask, WIDE } from "./fixtures.ts";

function open(database: TestDatabase, poolSize: number): SqlDriver {
  return createPostgresDriver({
    url: database.bridgeUrl,
    logger: new FakeLogger(),
    poolSize,
  });
}

function storeOn(driver: SqlDriver, instanceId: string): TaskStore {
  return createTaskStore({
    driver,
    instanceId,
    leaseMs: 2000,
    patienceMs: 100,
    pluginId: "cyberos",
  });
}

postgresTest(
  "DB-01 no tenant stays on a connection, however its call ended",
  async (database) => {
    const driver = open(database, 1);
    try {
      const store = storeOn(driver, "i1");
      const [a, b] = [newOwner(), newOwner()];
      const [taskA, taskB] = [newTask({ owner: a }), newTask({ owner: b })];
      await store.create(taskA, WIDE);
      await store.create(taskB, WIDE);
      const visible = async (): Promise<number> => {
        const [row] = await driver.query(
          "select count(*)::int as n, current_setting('auth.tenant_id', true) as tenant from plugin_host.tasks",
          [],
        );
        assert.ok(!row?.tenant, `a tenant was left behind: ${row?.tenant}`);
        return row?.n as number;
      };
      const endings: readonly (readonly [string, () => Promise<unknown>])[] = [
        ["a good answer", () => store.get(a, taskA.taskId)],
        ["a refusal by SQL", () =>
          driver.query(
            "select plugin_host.task_get($1::uuid, 'ann', 't'), 1 / 0",
            [a.tenantId],
          ).catch(() => {})],
        [
          "a refusal inside the function",
          () =>
            store.create({ ...newTask({ owner: a }), ttlMs: -1 }, WIDE)
              .catch(() => {}),
        ],
        ["a caller that went away", () => {
          const signal = AbortSignal.timeout(5);
          return driver.query(
            "select plugin_host.task_get($1::uuid, 'ann', 't'), pg_sleep(0.05)",
            [a.tenantId],
            { signal },
          ).catch(() => {});
        }],
        ["a killed backend", async () => {
          const asleep = driver.query(
            "select plugin_host.task_get($1::uuid, 'ann', 't'), pg_sleep(5)",
            [a.tenantId],
          ).catch(() => {});
          await new Promise((resolve) => setTimeout(resolve, 50));
          await killBackends(database);
          await asleep;
        }],
      ];
      for (const [name, call] of endings) {
        await call();
        await persist(async () => assert.equal(await visible(), 0, name));
        assert.equal(await store.get(b, taskA.taskId), undefined, name);
        assert.equal((await store.get(b, taskB.taskId))?.status, "running");
      }
    } finally {
      await driver.close();
    }
  },
);

/** What the two tenants do; numbers pick among what they have made so far. */
const STEP = fc.record({
  tenant: fc.nat(1),
  instance: fc.nat(1),
  act: fc.constantFrom(
    "create",
    "get",
    "foreign get",
    "list",
    "cancel",
    "foreign cancel",
    "finish",
    "foreign finish",
    "beat",
    "maintain",
    "keyed create",
    "kill",
  ),
  pick: fc.nat(),
});
type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

/**
 * Runs steps, a few at a time, and says which rows a tenant saw that are not
 * its own. Both tenants use the same subject and the same keys, so that only
 * the policy stands between them.
 */
async function foreignRowsSeen(
  database: TestDatabase,
  stores: readonly TaskStore[],
  steps: readonly Step[],
): Promise<string[]> {
  const owners = [newOwner(), newOwner()];
  const made: string[][] = [[], []];
  const foreign: string[] = [];
  const saw = (tenant: number, taskId: string | undefined): void => {
    if (taskId !== undefined && made[1 - tenant]?.includes(taskId)) {
      foreign.push(taskId);
    }
  };
  const act = async ({ tenant, instance, act, pick }: Step): Promise<void> => {
    const store = stores[instance] as TaskStore;
    const owner = owners[tenant] as TaskOwner;
    const of = (ids: readonly string[] | undefined): string =>
      ids?.[pick % Math.max(1, ids.length)] ?? newTask().taskId;
    const own = of(made[tenant]);
    const others = of(made[1 - tenant]);
    switch (act) {
      case "create":
      case "keyed create": {
        const task = newTask({
          owner,
          ...(act === "create" ? {} : { idempotencyKey: `k${pick % 3}` }),
        });
        made[tenant]?.push(task.taskId);
        const creation = await store.create(task, WIDE);
        return saw(
          tenant,
          "task" in creation ? creation.task.taskId : undefined,
        );
      }
      case "get":
        return saw(tenant, (await store.get(owner, own))?.taskId);
      case "foreign get":
        return saw(tenant, (await store.get(owner, others))?.taskId);
      case "list": {
        const { tasks } = await store.list(owner, { limit: 100 });
        return tasks.forEach(({ taskId }) => saw(tenant, taskId));
      }
      case "cancel":
        return saw(tenant, (await store.cancel(owner, own))?.task.taskId);
      case "foreign cancel":
        return saw(tenant, (await store.cancel(owner, others))?.task.taskId);
      case "finish":
      case "foreign finish": {
        const { tenantId } = owner;
        const taskId = act === "finish" ? own : others;
        const end = { tenantId, taskId, status: "completed" as const };
        return saw(tenant, (await store.finish(end)).task?.taskId);
      }
      case "beat": {
        const { tenantId } = owner;
        const taskIds = [own, others];
        const stop = await store.beat([{ tenantId, taskIds, progress: {} }]);
        // Prolonging a foreign lease would be seeing the row.
        return saw(tenant, stop.includes(others) ? undefined : others);
      }
      case "maintain":
        return void await store.maintain(ENDINGS);
      case "kill":
        return await killBackends(database, 1);
    }
  };
  for (let at = 0; at < steps.length; at += 6) {
    await Promise.all(
      steps.slice(at, at + 6).map((step) =>
        act(step).catch((error) => {
          // A call whose backend was killed fails cleanly; anything else is a bug.
          if (!(error instanceof BridgeError)) throw error;
          assert.equal(error.code, "STORE_UNAVAILABLE");
        })
      ),
    );
  }
  return foreign;
}

async function propertyRun(
  database: TestDatabase,
  runs: number,
): Promise<string[]> {
  const driver = open(database, 3);
  const stores = [storeOn(driver, "i1"), storeOn(driver, "i2")];
  const seen: string[] = [];
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(STEP, { minLength: 30, maxLength: 90 }),
        async (steps) => {
          seen.push(...await foreignRowsSeen(database, stores, steps));
        },
      ),
      { numRuns: runs, seed: 20260506, endOnFailure: true },
    );
  } finally {
    await driver.close();
  }
  return seen;
}

postgresTest(
  "P2-AC08 two tenants never see each other's rows, on shared connections that die",
  async (database) => {
    assert.deepEqual(await propertyRun(database, 15), []);
  },
);

postgresTest(
  "P2-AC08 control: without the policy the same run sees foreign rows",
  async (database) => {
    const driver = open(database, 3);
    const stores = [storeOn(driver, "i1"), storeOn(driver, "i2")];
    try {
      // Proven first, as a bridge would that was running when it happened.
      await Promise.all(stores.map((store) => store.get(newOwner(), "t-x")));
      await database.admin("drop policy tasks_rls on plugin_host.tasks");
      await database.admin(
        "create policy tasks_rls on plugin_host.tasks using (true)",
      );
      const steps = fc.sample(STEP, { numRuns: 90, seed: 7 })
        .filter(({ act }) => act !== "kill");
      const seen = await foreignRowsSeen(database, stores, steps);
      assert.ok(seen.length > 0, "the property test would not notice");
    } finally {
      await driver.close();
    }
  },
);

async function killBackends(
  database: TestDatabase,
  most = 100,
): Promise<void> {
  await database.admin(
    `select pg_terminate_backend(pid) from (
       select pid from pg_stat_activity
       where datname = current_database() and usename = 'bridge_login'
       order by random() limit ${most}) s`,
  );
}

/** Once more where the connection has just died. */
async function persist(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    await run();
  }
}
