/** The task runner on PostgreSQL: one task from start to end. */
import assert from "node:assert/strict";
import { BridgeError, type BridgeErrorCode } from "../../../bridge/errors.ts";
import { createAbsentTaskRunner } from "../../../bridge/calls/task_runner_absent.ts";
import { clampTtl } from "../../../bridge/calls/task_runner_options.ts";
import { newTaskId } from "../../../bridge/calls/task_id.ts";
import type { Progress, TaskView } from "../../../bridge/types.ts";
import { eventually } from "../store/fixtures.ts";
import { holdWork, instancesTest, newPrincipal, startOf } from "./bench.ts";

const refusal = (code: BridgeErrorCode) => (error: unknown): boolean =>
  error instanceof BridgeError && error.code === code;

instancesTest(
  "P2-AC04 a task is running and named before its work has ended, within 100 ms",
  async ([{ runner }]) => {
    const held = holdWork();
    await runner.start(startOf(held.work));
    const took: number[] = [];
    for (let round = 0; round < 15; round++) {
      const startedAt = performance.now();
      const { task, created } = await runner.start(startOf(held.work));
      took.push(performance.now() - startedAt);
      assert.equal(created, true);
      assert.equal(task.status, "running");
      assert.match(task.taskId, /^t-[A-Za-z0-9_-]{24}$/);
    }
    took.sort((a, b) => a - b);
    assert.ok((took[7] as number) < 100, `median of ${took}`);
  },
);

instancesTest(
  "P2-AC05 polling sees running, then completed with the output",
  async ([{ runner }]) => {
    const held = holdWork();
    const start = startOf(held.work);
    const { task } = await runner.start(start);
    assert.equal(
      (await runner.get(start.principal, task.taskId)).status,
      "running",
    );
    held.complete({ steps_executed: 10, final_artifacts: [] });
    let seen: TaskView | undefined;
    await eventually(async () => {
      seen = await runner.get(start.principal, task.taskId);
      return seen.status === "completed";
    });
    assert.deepEqual(seen?.output, { steps_executed: 10, final_artifacts: [] });
    assert.ok((seen?.completedAtMs ?? 0) >= task.createdAtMs);
    assert.equal(seen?.traceId, start.span.context.traceId);
    assert.ok(!("held" in (seen ?? {})), "what is ours stays with us");
  },
);

instancesTest(
  "P2-AC06 cancelling stops the work before it answers, here and from another instance",
  async ([here, there]) => {
    for (const canceller of [here, there]) {
      const held = holdWork();
      const ends: TaskView[] = [];
      const start = startOf(held.work, {
        onEnd: (task) => {
          ends.push(task);
          return Promise.resolve();
        },
      });
      const { task } = await here.runner.start(start);
      await eventually(() => held.runs.length === 1);
      const cancelled = await canceller.runner.cancel(
        start.principal,
        task.taskId,
      );
      assert.equal(cancelled.status, "cancelled");
      assert.equal(held.runs[0]?.signal.aborted, true);
      assert.equal(held.idle, true, "its work has ended by now");
      const later = await there.runner.get(start.principal, task.taskId);
      assert.equal(later.status, "cancelled");
      await eventually(() => ends.length === 1);
      assert.equal(ends[0]?.status, "cancelled");
      await assert.rejects(
        canceller.runner.cancel(start.principal, task.taskId),
        (error: BridgeError) =>
          error.code === "TASK_FINISHED" && /cancelled/.test(error.hint),
      );
    }
  },
);

instancesTest(
  "P2-AC07 another connection, and another instance, find the task as it is",
  async ([first, second]) => {
    const held = holdWork();
    const start = startOf(held.work);
    const { task } = await first.runner.start(start);
    const seen = await second.runner.get(start.principal, task.taskId);
    assert.deepEqual(seen, task);
    held.complete({ done: true });
    await eventually(async () =>
      (await second.runner.get(start.principal, task.taskId)).status ===
        "completed"
    );
    await first.runner.close();
    const after = await second.runner.get(start.principal, task.taskId);
    assert.deepEqual(after.output, { done: true });
  },
);

instancesTest(
  "P2-AC08 P2-FM09 another tenant's, another subject's and no task are one answer",
  async ([{ runner }]) => {
    const held = holdWork();
    const start = startOf(held.work);
    const { task } = await runner.start(start);
    const strangers = [newPrincipal(), { ...start.principal, subject: "bob" }];
    const errors: unknown[] = [];
    for (const stranger of strangers) {
      for (const id of [task.taskId, newTaskId(), "t-abc123", "", "' or 1=1"]) {
        for (const call of [runner.get, runner.cancel]) {
          await call(stranger, id).catch((error) => errors.push(error));
        }
      }
      assert.deepEqual((await runner.list(stranger, {})).tasks, []);
    }
    assert.equal(errors.length, 20);
    for (const error of errors as BridgeError[]) {
      assert.deepEqual(
        [error.code, error.class, error.message, error.data],
        ["TASK_NOT_FOUND", "input_validation", "Task not found", {}],
      );
    }
    assert.equal(
      (await runner.get(start.principal, task.taskId)).status,
      "running",
    );
  },
);

instancesTest(
  "P2-AC17 P2-FM10 a task beyond its timeout is stopped and failed with a hint",
  async ([{ runner }]) => {
    const held = holdWork();
    const start = startOf(held.work, { timeoutMs: 150 });
    const { task } = await runner.start(start);
    const ended = await runner.wait(start.principal, task.taskId, {
      timeoutMs: 5000,
      signal: new AbortController().signal,
    });
    assert.equal(ended.status, "failed");
    assert.equal(ended.error?.data.class, "internal_error");
    assert.match(String(ended.error?.data.hint), /timeout_seconds/);
    assert.match(ended.error?.message ?? "", /0\.15 s/);
    assert.equal(ended.error?.data.trace_id, task.traceId);
    assert.equal(held.runs[0]?.signal.aborted, true);
    assert.equal(held.idle, true);
  },
);

instancesTest(
  "work that ignores its signal does not keep its task from ending",
  async ([{ runner, log }]) => {
    const held = holdWork({ stubborn: true });
    const start = startOf(held.work, { timeoutMs: 50 });
    const { task } = await runner.start(start);
    await eventually(async () =>
      (await runner.get(start.principal, task.taskId)).status === "failed"
    );
    assert.ok(log.lines.some(({ event }) => event === "task.stuck"));
    held.complete({ late: true });
    await new Promise((resolve) => setTimeout(resolve, 50));
    const after = await runner.get(start.principal, task.taskId);
    assert.equal(after.output, undefined);
  },
  { stopGraceMs: 100 },
);

instancesTest(
  "P2-FM14 a taken id is replaced; if every id is taken it is a bug",
  async ([{ runner, log }]) => {
    const held = holdWork();
    const one = await runner.start(startOf(held.work));
    const two = await runner.start(startOf(held.work));
    assert.notEqual(one.task.taskId, two.task.taskId);
    const collisions = () =>
      log.lines.filter(({ event }) => event === "task.id_collision").length;
    assert.equal(collisions(), 1);
    await assert.rejects(runner.start(startOf(held.work)), refusal("INTERNAL"));
    assert.equal(collisions(), 6);
  },
  { newTaskId: idsFrom(["a", "a", "b", "a"]) },
);

function idsFrom(letters: readonly string[]): () => string {
  let at = 0;
  return () => {
    const letter = letters[Math.min(at++, letters.length - 1)] as string;
    return `t-${letter.repeat(24)}`;
  };
}

instancesTest(
  "how work ends is what the task says",
  async ([{ runner, log }]) => {
    const cases: readonly (readonly [string, () => unknown, object])[] = [
      ["a refusal", () => {
        throw new BridgeError("NOT_FOUND", 'No persona "x"', { hint: "cto?" });
      }, { class: "input_validation", hint: "cto?" }],
      ["a bug", () => {
        throw new TypeError("secret detail");
      }, { class: "internal_error" }],
      ["a result that is too large", () => ({ text: "x".repeat(2000) }), {
        class: "upstream_unavailable",
      }],
      ["a result that is no JSON", () => ({ n: 1n }), {
        class: "internal_error",
      }],
    ];
    for (const [name, make, data] of cases) {
      const start = startOf(() => Promise.resolve().then(make) as never);
      const { task } = await runner.start(start);
      const ended = await runner.wait(start.principal, task.taskId, {
        timeoutMs: 5000,
        signal: new AbortController().signal,
      });
      assert.equal(ended.status, "failed", name);
      assert.deepEqual(
        { ...ended.error?.data, ...data },
        ended.error?.data,
        name,
      );
      assert.doesNotMatch(JSON.stringify(ended.error), /secret/);
    }
    assert.ok(
      log.lines.some(({ event, fields }) =>
        event === "task.bug" && /secret detail/.test(String(fields.error))
      ),
      "a bug is logged whole",
    );
    const odd = startOf(() => Promise.resolve({ text: "a\u0000\ud800b" }));
    const { task } = await runner.start(odd);
    await eventually(async () =>
      (await runner.get(odd.principal, task.taskId)).status === "completed"
    );
    const { output } = await runner.get(odd.principal, task.taskId);
    assert.deepEqual(output, { text: "a\uFFFD\uFFFDb" });
  },
  { maxOutputLength: 1000 },
);

instancesTest(
  "progress is told while it lasts, in order, and kept in the row",
  async ([here, there]) => {
    const held = holdWork();
    const start = startOf(held.work);
    const { task } = await here.runner.start(start);
    await eventually(() => held.runs.length === 1);
    const report = held.runs[0]?.onProgress as (progress: Progress) => void;
    const told: { here: number[]; there: number[] } = { here: [], there: [] };
    const signal = new AbortController().signal;
    const waits = (["here", "there"] as const).map((side) =>
      ({ here, there })[side].runner.wait(start.principal, task.taskId, {
        timeoutMs: 10_000,
        signal,
        onProgress: ({ step }) => told[side].push(step),
      })
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    report({ step: 1, total: 3, message: "x".repeat(10_000) });
    report({ step: 3, total: 3 });
    report({ step: 2, total: 3 });
    const mine = await here.runner.get(start.principal, task.taskId);
    assert.deepEqual(
      mine.progress,
      { step: 3, total: 3 },
      "at once on its instance",
    );
    await eventually(() => told.there.includes(3));
    held.complete({});
    const [ended] = await Promise.all(waits);
    report({ step: 9 });
    assert.deepEqual(told.here, [1, 3]);
    assert.ok(
      told.there.every((step, index) => step > (told.there[index - 1] ?? 0)),
    );
    assert.deepEqual(ended?.progress, { step: 3, total: 3 });
  },
  { leaseMs: 600, pollIntervalMs: 100 },
);

instancesTest(
  "the end is told once, and a listener that fails breaks nothing",
  async ([{ runner, log }]) => {
    let told = 0;
    const start = startOf(() => Promise.resolve({ ok: true }), {
      onEnd: (task) => {
        told++;
        assert.equal(task.status, "completed");
        return Promise.reject(new Error("audit is away"));
      },
    });
    const { task } = await runner.start(start);
    await eventually(() =>
      log.lines.some(({ event }) => event === "task.on_end_failed")
    );
    assert.equal(told, 1);
    assert.equal(
      (await runner.get(start.principal, task.taskId)).status,
      "completed",
    );
  },
);

instancesTest(
  "closing an instance ends its tasks as failed: run it again",
  async ([first, second]) => {
    const held = holdWork();
    const start = startOf(held.work);
    const { task } = await first.runner.start(start);
    await first.runner.close();
    assert.equal(held.idle, true);
    const seen = await second.runner.get(start.principal, task.taskId);
    assert.equal(seen.status, "failed");
    assert.equal(seen.error?.data.class, "upstream_unavailable");
    assert.match(String(seen.error?.data.hint), /Run it again/);
    await assert.rejects(first.runner.start(start), refusal("SHUTTING_DOWN"));
  },
);

instancesTest(
  "TASK-14 beyond a limit the refusal says which, and that waiting helps",
  async ([{ runner }]) => {
    const held = holdWork();
    const principal = newPrincipal();
    await runner.start(startOf(held.work, { principal }));
    await runner.start(startOf(held.work, { principal }));
    await assert.rejects(
      runner.start(startOf(held.work, { principal })),
      (error: BridgeError) =>
        error.code === "TASK_LIMIT" && error.retryable &&
        error.message === "No more than 2 tasks of this user run at one time",
    );
    const other = await runner.start(startOf(held.work));
    assert.equal(other.created, true, "another tenant does not notice");
    held.complete({});
    await eventually(() => held.idle);
    await eventually(() =>
      runner.start(startOf(held.work, { principal })).then(
        () => true,
        () => false,
      )
    );
  },
  { limits: { runningPerSubject: 2 } },
);

Deno.test("TASK-10 the ttl that counts is between what a result needs and a day", () => {
  const options = { defaultMs: 3_600_000, minMs: 60_000, maxMs: 86_400_000 };
  const clamp = (asked: number | undefined, timeoutMs = 600_000) =>
    clampTtl(asked, timeoutMs, options);
  assert.equal(clamp(undefined), 4_200_000);
  assert.equal(clamp(0), 660_000);
  assert.equal(clamp(1), 660_000);
  assert.equal(clamp(2 ** 31), 86_400_000);
  assert.equal(clamp(2 ** 53), 86_400_000);
  assert.equal(clamp(1e300), 86_400_000);
  assert.equal(clamp(Infinity), 4_200_000);
  assert.equal(clamp(700_000.9), 700_000);
  assert.equal(clamp(1, 90_000_000), 90_060_000, "a long run is kept longer");
});

Deno.test("without a database every task call says what the operator must do", async () => {
  const runner = createAbsentTaskRunner("Set CYBEROS_DATABASE_URL");
  const principal = newPrincipal();
  for (
    const call of [
      runner.start(startOf(holdWork().work)),
      runner.get(principal, newTaskId()),
      runner.list(principal, {}),
      runner.cancel(principal, newTaskId()),
    ]
  ) {
    await assert.rejects(
      call,
      (error: BridgeError) =>
        error.class === "upstream_unavailable" &&
        error.hint === "Set CYBEROS_DATABASE_URL",
    );
  }
  assert.equal(
    (await runner.status(AbortSignal.timeout(1))).state,
    "not configured",
  );
});
