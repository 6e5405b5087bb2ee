/** The task runner on the embedded database: two instances that share it. */
import assert from "node:assert/strict";
import type { BridgeError } from "../../../bridge/errors.ts";
import type { TaskRunner } from "../../../bridge/ports.ts";
import { createTaskRunner } from "../../../bridge/calls/task_runner.ts";
import { createEmbeddedDriver } from "../../../bridge/store/embedded.ts";
import { createTaskStore } from "../../../bridge/store/task_store.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import { eventually } from "../store/fixtures.ts";
import { holdWork, newPrincipal, startOf } from "./bench.ts";

Deno.test("tasks on the embedded database: start, follow, cancel, time out, repeat", async () => {
  const driver = createEmbeddedDriver({
    dataDir: undefined,
    logger: new FakeLogger(),
  });
  const open = (instanceId: string): TaskRunner =>
    createTaskRunner({
      store: createTaskStore({
        driver,
        instanceId,
        leaseMs: 15_000,
        pluginId: "cyberos",
        embedded: true,
        sharedDriver: true,
      }),
      clock: { now: () => Date.now() },
      logger: new FakeLogger(),
      leaseMs: 15_000,
    });
  const [first, second] = [open("i1"), open("i2")];
  const signal = new AbortController().signal;
  try {
    const held = holdWork();
    const start = startOf(held.work, { idempotencyKey: "k" });
    const { task } = await first.start(start);
    assert.equal(task.status, "running");
    assert.equal((await second.start(start)).created, false);
    await assert.rejects(
      second.get(newPrincipal(), task.taskId),
      (error: BridgeError) => error.code === "TASK_NOT_FOUND",
    );
    const waiting = second.wait(start.principal, task.taskId, {
      timeoutMs: 10_000,
      signal,
    });
    await eventually(() => held.runs.length === 1);
    held.complete({ ok: true });
    assert.deepEqual((await waiting).output, { ok: true });

    const other = holdWork();
    const cancelled = startOf(other.work);
    const { task: second1 } = await first.start(cancelled);
    await eventually(() => other.runs.length === 1);
    const seen = await second.cancel(cancelled.principal, second1.taskId);
    assert.equal(seen.status, "cancelled");
    assert.equal(other.idle, true);

    const slow = startOf(holdWork().work, { timeoutMs: 50 });
    const { task: timed } = await first.start(slow);
    const ended = await first.wait(slow.principal, timed.taskId, {
      timeoutMs: 10_000,
      signal,
    });
    assert.equal(ended.error?.data.class, "internal_error");
    const { tasks } = await second.list(slow.principal, {});
    assert.deepEqual(tasks.map(({ taskId }) => taskId), [timed.taskId]);
  } finally {
    await Promise.all([first.close(), second.close()]);
    await driver.close();
  }
});
