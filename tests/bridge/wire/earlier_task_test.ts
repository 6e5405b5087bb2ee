/** Finding a task by its key on PostgreSQL, without starting one. */
import assert from "node:assert/strict";
import type { BridgeError } from "../../../bridge/errors.ts";
import type { TaskKey } from "../../../bridge/ports.ts";
import {
  holdWork,
  instancesTest,
  newPrincipal,
  startOf,
} from "../tasks/bench.ts";

instancesTest(
  "TaskRunner.find() gives the task of the key on any instance, and starts none",
  async ([first, second]) => {
    const held = holdWork();
    const start = startOf(held.work, { idempotencyKey: "monday" });
    const key: TaskKey = { ...start, idempotencyKey: "monday" };
    const find = (more: Partial<TaskKey> = {}) =>
      second.runner.find?.({ ...key, ...more });
    assert.equal(await find(), undefined);
    const { tasks } = await first.runner.list(start.principal, {});
    assert.deepEqual(tasks, []);

    const { task } = await first.runner.start(start);
    assert.equal((await find())?.taskId, task.taskId);
    assert.equal((await find())?.status, "running");
    assert.equal(await find({ idempotencyKey: "tuesday" }), undefined);
    assert.equal(await find({ principal: newPrincipal() }), undefined);
    await assert.rejects(
      find({ input: { other: true } }) ?? Promise.resolve(),
      (error: BridgeError) => error.code === "CONFLICT",
    );
    held.complete({ ok: true });
    await first.runner.wait(start.principal, task.taskId, {
      timeoutMs: 5000,
      signal: new AbortController().signal,
    });
    assert.deepEqual((await find())?.output, { ok: true });
    assert.equal(
      (await first.runner.list(start.principal, {})).tasks.length,
      1,
    );
  },
);
