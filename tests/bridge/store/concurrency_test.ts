/** What only a real server shows: several connections at the same moment. */
import assert from "node:assert/strict";
import type { SqlDriver, TaskStore } from "../../../bridge/ports.ts";
import { createPostgresDriver } from "../../../bridge/store/postgres.ts";
import { createTaskStore } from "../../../bridge/store/task_store.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import { postgresTest, type TestDatabase } from "../../support/postgres.ts";
import { newOwner, newTask, WIDE } from "./fixtures.ts";

async function withInstances(
  database: TestDatabase,
  run: (stores: readonly [TaskStore, TaskStore]) => Promise<void>,
): Promise<void> {
  const drivers: SqlDriver[] = [];
  const make = (instanceId: string): TaskStore => {
    const driver = createPostgresDriver({
      url: database.bridgeUrl,
      logger: new FakeLogger(),
      poolSize: 10,
    });
    drivers.push(driver);
    return createTaskStore({
      driver,
      instanceId,
      leaseMs: 15_000,
      pluginId: "cyberos",
    });
  };
  try {
    await run([make("i1"), make("i2")]);
  } finally {
    await Promise.all(drivers.map((driver) => driver.close()));
  }
}

postgresTest(
  "TASK-02 cancel and complete in the same moment: one of them, for ever",
  (database) =>
    withInstances(database, async ([runner, other]) => {
      const owner = newOwner();
      let completions = 0;
      const rounds = 200;
      const limits = { ...WIDE, keptPerSubject: 10_000, keptPerTenant: 10_000 };
      for (let round = 0; round < rounds; round++) {
        const task = newTask({ owner });
        await runner.create(task, limits);
        const [finished, cancelled] = await Promise.all([
          runner.finish({
            tenantId: owner.tenantId,
            taskId: task.taskId,
            status: "completed",
            output: { round },
          }),
          other.cancel(owner, task.taskId),
        ]);
        assert.notEqual(finished.changed, cancelled?.changed, "exactly one");
        const now = await other.get(owner, task.taskId);
        assert.equal(
          now?.status,
          finished.changed ? "completed" : "cancelled",
        );
        assert.equal(cancelled?.task.status, now?.status);
        if (finished.changed) completions++;
      }
      assert.ok(
        completions > 0 && completions < rounds,
        `no race at all: ${completions} of ${rounds} completed`,
      );
    }),
);

postgresTest(
  "50 identical calls under one key on two instances make one task",
  (database) =>
    withInstances(database, async (stores) => {
      for (let round = 0; round < 4; round++) {
        const owner = newOwner();
        const creations = await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            (stores[index % 2] as TaskStore).create(
              newTask({ owner, idempotencyKey: "k" }),
              WIDE,
            )),
        );
        const created = creations.filter(({ outcome }) =>
          outcome === "created"
        );
        assert.equal(created.length, 1);
        const ids = new Set(
          creations.map((one) => "task" in one ? one.task.taskId : one.outcome),
        );
        assert.equal(ids.size, 1);
      }
    }),
);

postgresTest(
  "TASK-14 a limit holds exactly while many start at once",
  (database) =>
    withInstances(database, async (stores) => {
      const owner = newOwner();
      const limits = { ...WIDE, runningPerSubject: 7 };
      const creations = await Promise.all(
        Array.from(
          { length: 50 },
          (_, index) =>
            (stores[index % 2] as TaskStore).create(newTask({ owner }), limits),
        ),
      );
      const made = creations.filter(({ outcome }) => outcome === "created");
      assert.equal(made.length, 7);
    }),
);

postgresTest(
  "two instances that maintain at once close and remove each task once",
  (database) =>
    withInstances(database, async (stores) => {
      const short = { ttlMs: 1, timeoutMs: 1 };
      const owners = [newOwner(), newOwner(), newOwner()];
      for (const owner of owners) {
        for (let index = 0; index < 10; index++) {
          const task = newTask({ owner, ...short });
          await stores[0].create(task, WIDE);
          await stores[0].finish({
            tenantId: owner.tenantId,
            taskId: task.taskId,
            status: "completed",
          });
        }
      }
      await database.admin(
        "update plugin_host.task_tenants set next_due_at = now()",
      );
      const endings = {
        lost: { code: 1, message: "lost", data: {} },
        overdue: { code: 1, message: "overdue", data: {} },
      };
      const done = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (stores[index % 2] as TaskStore).maintain(endings)),
      );
      const removed = done.reduce((sum, one) =>
        sum + one.removed, 0);
      assert.equal(removed, 30);
      const [left] = await database.admin(
        "select count(*)::int as n from plugin_host.task_tenants where next_due_at < 'infinity'",
      );
      assert.equal(left?.n, 0, "and nobody looks at those tenants again");
    }),
);
