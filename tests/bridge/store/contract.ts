/** One suite for the task store, run on every driver. */
import assert from "node:assert/strict";
import type {
  SqlDriver,
  TaskCreation,
  TaskSignal,
  TaskStore,
} from "../../../bridge/ports.ts";
import type { BridgeError } from "../../../bridge/errors.ts";
import { createTaskStore } from "../../../bridge/store/task_store.ts";
import { ENDINGS, eventually, newOwner, newTask, WIDE } from "./fixtures.ts";

/** How the suite gets at a driver. */
export interface ContractOptions {
  readonly name: string;
  readonly ignore?: boolean;
  readonly embedded?: boolean;
  /** Runs with a driver, as the bridge's role, on a migrated database that may hold other tests' rows. */
  readonly withDriver: (
    run: (driver: SqlDriver) => Promise<void>,
  ) => Promise<void>;
}

interface Bench {
  readonly driver: SqlDriver;
  /** A store of another instance. */
  store(options?: { instanceId?: string; leaseMs?: number }): TaskStore;
}

/** Registers the suite. */
export function storeContract(options: ContractOptions): void {
  const test = (name: string, run: (bench: Bench) => Promise<void>): void =>
    Deno.test({
      name: `${options.name}: ${name}`,
      ignore: options.ignore ?? false,
      fn: () =>
        options.withDriver((driver) =>
          run({
            driver,
            store: (
              { instanceId = crypto.randomUUID(), leaseMs = 15_000 } = {},
            ) =>
              createTaskStore({
                driver,
                instanceId,
                leaseMs,
                patienceMs: leaseMs,
                pluginId: "cyberos",
                embedded: options.embedded ?? false,
              }),
          })
        ),
    });

  test("a created task is found at once, on every instance, as it was given", async ({ store }) => {
    const owner = newOwner();
    const task = newTask({
      owner,
      input: {
        n: 1e21,
        deep: [{ a: null }, true, -0.5],
        text: 'ü \u2028 "\\u0000" 😀',
      },
    });
    const created = taskOf(await store().create(task, WIDE));
    assert.equal(created.status, "running");
    assert.equal(created.held, true);
    assert.equal(created.ttlMs, 120_000);
    assert.equal(created.traceId, task.traceId);
    assert.ok(Math.abs(created.createdAtMs - Date.now()) < 60_000);
    assert.deepEqual(await store().get(owner, task.taskId), created);
  });

  test("P2-FM09 a task of another tenant, or another subject, is not there", async ({ store }) => {
    const owner = newOwner();
    const task = newTask({ owner });
    const mine = store();
    await mine.create(task, WIDE);
    const strangers = [
      newOwner(),
      newOwner("bob"),
      { ...owner, subject: "bob" },
      { ...owner, tenantId: crypto.randomUUID() },
    ];
    for (const stranger of strangers) {
      assert.equal(await mine.get(stranger, task.taskId), undefined);
      assert.equal(await mine.cancel(stranger, task.taskId), undefined);
      const { tasks } = await mine.list(stranger, { limit: 10 });
      assert.deepEqual(tasks, []);
    }
    const foreign = await mine.finish({
      tenantId: crypto.randomUUID(),
      taskId: task.taskId,
      status: "completed",
    });
    assert.deepEqual(foreign, { changed: false });
    const still = await mine.get(owner, task.taskId);
    assert.equal(still?.status, "running", "and its owner still has it");
  });

  test("TASK-01 what has ended does not change, whoever tries", async ({ store }) => {
    const owner = newOwner();
    const task = newTask({ owner });
    const mine = store();
    await mine.create(task, WIDE);
    const end = { tenantId: owner.tenantId, taskId: task.taskId };
    const first = await mine.finish({
      ...end,
      status: "completed",
      output: { steps_executed: 3 },
    });
    assert.equal(first.changed, true);
    assert.deepEqual(first.task?.output, { steps_executed: 3 });
    const cancelled = await mine.cancel(owner, task.taskId);
    assert.equal(cancelled?.changed, false);
    assert.equal(cancelled?.task.status, "completed");
    const again = await mine.finish({ ...end, status: "failed" });
    assert.equal(again.changed, false);
    assert.deepEqual(await mine.get(owner, task.taskId), first.task);
  });

  test("TASK-02 a late end is dropped, and the cancelled task is let go of", async ({ store }) => {
    const owner = newOwner();
    const task = newTask({ owner });
    const runner = store();
    await runner.create(task, WIDE);
    const cancelled = await store().cancel(owner, task.taskId);
    assert.equal(cancelled?.changed, true);
    assert.equal(cancelled?.task.status, "cancelled");
    assert.equal(cancelled?.task.held, true, "its work has yet to end");
    const late = await runner.finish({
      tenantId: owner.tenantId,
      taskId: task.taskId,
      status: "completed",
      output: { late: true },
    });
    assert.equal(late.changed, false);
    assert.equal(late.task?.status, "cancelled");
    assert.equal(late.task?.output, undefined);
    const now = await runner.get(owner, task.taskId);
    assert.equal(now?.held, false);
    assert.equal(now?.updatedAtMs, cancelled?.task.updatedAtMs);
  });

  test("only the instance that holds a task can end it", async ({ store }) => {
    const task = newTask();
    await store().create(task, WIDE);
    const { changed, task: seen } = await store().finish({
      tenantId: task.owner.tenantId,
      taskId: task.taskId,
      status: "completed",
    });
    assert.equal(changed, false);
    assert.equal(seen?.status, "running");
  });

  test("an idempotency key names one task of one subject and tool", async ({ store }) => {
    const owner = newOwner();
    const mine = store();
    const keyed = { owner, idempotencyKey: "k\u0000\ud800" };
    const first = newTask(keyed);
    assert.equal((await mine.create(first, WIDE)).outcome, "created");
    const repeat = await store().create(newTask(keyed), WIDE);
    assert.equal(repeat.outcome, "existing");
    assert.equal(taskOf(repeat).taskId, first.taskId);
    const other = newTask({ ...keyed, requestHash: "h2" });
    assert.deepEqual(await mine.create(other, WIDE), { outcome: "conflict" });
    for (
      const elsewhere of [
        newTask({ ...keyed, owner: { ...owner, subject: "bob" } }),
        newTask({ ...keyed, owner: newOwner() }),
        newTask({ ...keyed, tool: "cyberos.skill.invoke_skill" }),
        newTask({ ...keyed, idempotencyKey: "k" }),
      ]
    ) assert.equal((await mine.create(elsewhere, WIDE)).outcome, "created");
    await mine.finish({
      tenantId: owner.tenantId,
      taskId: first.taskId,
      status: "failed",
    });
    const ended = await mine.create(newTask(keyed), WIDE);
    assert.equal(taskOf(ended).status, "failed", "a repeat collects the end");
  });

  test("P2-FM14 a taken id is a collision, the same for a foreign one", async ({ store }) => {
    const mine = store();
    const own = newTask();
    const foreign = newTask();
    await mine.create(own, WIDE);
    await store().create(foreign, WIDE);
    for (const { taskId } of [own, foreign]) {
      const second = newTask({ taskId, owner: own.owner });
      assert.deepEqual(await mine.create(second, WIDE), {
        outcome: "collision",
      });
    }
    const lost = await mine.create({ ...own, again: true }, WIDE);
    assert.equal(lost.outcome, "created", "unless it is the same attempt");
  });

  test("TASK-14 each limit refuses the task beyond it, and no other tenant notices", async ({ store }) => {
    const mine = store();
    const owner = newOwner();
    const limits = {
      runningPerSubject: 2,
      runningPerTenant: 3,
      keptPerSubject: 3,
      keptPerTenant: 4,
    };
    const make = async (subject: string): Promise<TaskCreation> =>
      await mine.create(
        newTask({ owner: { ...owner, subject } }),
        limits,
      );
    const end = (creation: TaskCreation) =>
      mine.finish({
        tenantId: owner.tenantId,
        taskId: taskOf(creation).taskId,
        status: "completed",
      });
    const first = await make("ann");
    await make("ann");
    assert.deepEqual(await make("ann"), limit("runningPerSubject"));
    const third = await make("bob");
    assert.deepEqual(await make("bob"), limit("runningPerTenant"));
    await end(first);
    await make("ann");
    assert.deepEqual(await make("ann"), limit("runningPerSubject"));
    await end(third);
    assert.deepEqual(await make("cid"), limit("keptPerTenant"));
    const elsewhere = await mine.create(newTask(), limits);
    assert.equal(elsewhere.outcome, "created");
    const kept = { ...limits, keptPerSubject: 1 };
    assert.deepEqual(
      await mine.create(newTask({ owner: { ...owner, subject: "bob" } }), kept),
      limit("keptPerSubject"),
    );
  });

  test("lists newest first in pages that nobody can forge", async ({ store }) => {
    const mine = store();
    const owner = newOwner();
    const ids: string[] = [];
    for (let index = 0; index < 7; index++) {
      const task = newTask({ owner });
      ids.unshift(task.taskId);
      await mine.create(task, WIDE);
    }
    await mine.finish({
      tenantId: owner.tenantId,
      taskId: ids[0] as string,
      status: "completed",
      output: { big: true },
    });
    const seen: string[] = [];
    let cursor: string | undefined;
    let firstCursor: string | undefined;
    do {
      const page = await store().list(owner, {
        limit: 3,
        ...(cursor === undefined ? {} : { cursor }),
      });
      seen.push(...page.tasks.map(({ taskId }) => taskId));
      assert.ok(page.tasks.every(({ output }) => output === undefined));
      cursor = page.nextCursor;
      firstCursor ??= cursor;
    } while (cursor !== undefined);
    assert.deepEqual(seen, ids);
    const good = firstCursor as string;
    const flipped = (good[0] === "A" ? "B" : "A") + good.slice(1);
    const forged = [flipped, good.slice(0, -2), `${good}AA`, "", "%", "0"];
    for (const bad of forged) await refusesCursor(mine, owner, bad);
    await refusesCursor(mine, { ...owner, subject: "bob" }, good);
    await refusesCursor(mine, newOwner(), good);
  });

  test("a heartbeat keeps the lease and saves progress; what must stop is told", async ({ store }) => {
    const owner = newOwner();
    const mine = store({ leaseMs: 300 });
    const [kept, ended, foreign] = [
      newTask({ owner }),
      newTask({ owner }),
      newTask({ owner }),
    ];
    const before = taskOf(await mine.create(kept, WIDE));
    await mine.create(ended, WIDE);
    await store().create(foreign, WIDE);
    await store().cancel(owner, ended.taskId);
    await pause(200);
    const gone = newTask().taskId;
    const taskIds = [kept, ended, foreign].map(({ taskId }) => taskId);
    const quiet = await mine.beat([{
      tenantId: owner.tenantId,
      taskIds: [...taskIds, gone],
      progress: {},
    }]);
    assert.deepEqual(
      [...quiet].sort(),
      [ended.taskId, foreign.taskId, gone].sort(),
    );
    await pause(150);
    const now = await mine.get(owner, kept.taskId);
    assert.equal(now?.held, true);
    assert.equal(now?.updatedAtMs, before.updatedAtMs);
    assert.equal((await mine.get(owner, ended.taskId))?.held, true);
    await mine.beat([
      {
        tenantId: owner.tenantId,
        taskIds: [kept.taskId],
        progress: { [kept.taskId]: { step: 2, total: 9, message: "adr" } },
      },
      { tenantId: crypto.randomUUID(), taskIds: [kept.taskId], progress: {} },
    ]);
    const told = await store().get(owner, kept.taskId);
    assert.deepEqual(told?.progress, { step: 2, total: 9, message: "adr" });
    assert.ok((told?.updatedAtMs ?? 0) > before.updatedAtMs);
  });

  test("another instance closes what lost its lease, and nothing else", async ({ store }) => {
    const owner = newOwner();
    const dead = store({ leaseMs: 20 });
    const alive = store();
    const [lost, running] = [newTask({ owner }), newTask({ owner })];
    await dead.create(lost, WIDE);
    await alive.create(running, WIDE);
    // A tenth of a second since the server's start is long enough here.
    const closer = store({ leaseMs: 100 });
    await eventually(async () => {
      await closer.maintain(ENDINGS);
      return (await closer.get(owner, lost.taskId))?.status === "failed";
    });
    const closed = await closer.get(owner, lost.taskId);
    assert.equal(closed?.held, false);
    assert.equal(closed?.error?.data.trace_id, lost.traceId);
    assert.equal(closed?.error?.data.class, "upstream_unavailable");
    assert.equal((await closer.get(owner, running.taskId))?.status, "running");
    const late = await dead.finish({
      tenantId: owner.tenantId,
      taskId: lost.taskId,
      status: "completed",
    });
    assert.equal(late.changed, false, "no resurrection");
  });

  test("a task long past its timeout is closed even while its owner beats", async ({ store }) => {
    const task = newTask({ timeoutMs: 1 });
    const stuck = store();
    await stuck.create(task, WIDE);
    const beat = {
      tenantId: task.owner.tenantId,
      taskIds: [task.taskId],
      progress: {},
    };
    const closer = store({ leaseMs: 50 });
    // The owner's lease made the tenant due in 15 s only: another task's sooner.
    const soon = newTask({ owner: task.owner });
    await closer.create(soon, WIDE);
    await eventually(async () => {
      await stuck.beat([beat]);
      await closer.beat([{ ...beat, taskIds: [soon.taskId] }]);
      await closer.maintain(ENDINGS);
      const now = await closer.get(task.owner, task.taskId);
      return now?.status === "failed" && now.error?.message === "overdue";
    });
    assert.deepEqual(await stuck.beat([beat]), [task.taskId]);
  });

  test("TASK-10 a finished task is there until its ttl is over, then gone, and its key is free", async ({ store }) => {
    const owner = newOwner();
    const mine = store({ leaseMs: 50 });
    const short = { owner, ttlMs: 400, timeoutMs: 100, idempotencyKey: "k" };
    const task = newTask(short);
    const { createdAtMs } = taskOf(await mine.create(task, WIDE));
    const end = { tenantId: owner.tenantId, taskId: task.taskId };
    await mine.finish({ ...end, status: "completed" });
    await mine.maintain(ENDINGS);
    const kept = await mine.get(owner, task.taskId);
    assert.equal(kept?.status, "completed");
    await eventually(async () =>
      await mine.get(owner, task.taskId) === undefined
    );
    assert.ok(Date.now() - createdAtMs >= 350, "not before");
    const second = await mine.create(newTask(short), WIDE);
    assert.equal(second.outcome, "created");
    await mine.finish({
      ...end,
      taskId: taskOf(second).taskId,
      status: "failed",
    });
    let removed = 0;
    await eventually(async () => {
      removed += (await mine.maintain(ENDINGS)).removed;
      return removed === 1;
    });
  });

  test("an ended or cancelled task is told to every instance that listens", async ({ store }) => {
    const signals: TaskSignal[] = [];
    const listener = await store().listen((signal) => signals.push(signal));
    const mine = store();
    const [a, b] = [newTask(), newTask()];
    try {
      await eventually(async () => {
        const probe = newTask();
        await mine.create(probe, WIDE);
        await mine.cancel(probe.owner, probe.taskId);
        return signals.length > 0;
      });
      await mine.create(a, WIDE);
      await mine.create(b, WIDE);
      await mine.finish({
        tenantId: a.owner.tenantId,
        taskId: a.taskId,
        status: "completed",
      });
      await mine.cancel(b.owner, b.taskId);
      await eventually(() =>
        has(signals, "ended", a.taskId) && has(signals, "cancelled", b.taskId)
      );
    } finally {
      await listener.stop();
    }
  });

  test("the store says that it is well", async ({ store }) => {
    const status = await store().status(AbortSignal.timeout(5000));
    assert.equal(status.state, "ok");
  });
}

function has(
  signals: readonly TaskSignal[],
  kind: TaskSignal["kind"],
  taskId: string,
): boolean {
  return signals.some((one) => one.kind === kind && one.taskId === taskId);
}

function taskOf(creation: TaskCreation) {
  assert.ok("task" in creation, `no task: ${creation.outcome}`);
  return creation.task;
}

function limit(name: string): TaskCreation {
  return { outcome: "limit", limit: name } as TaskCreation;
}

async function refusesCursor(
  store: TaskStore,
  owner: { tenantId: string; subject: string },
  cursor: string,
): Promise<void> {
  await assert.rejects(
    store.list(owner, { limit: 3, cursor }),
    ({ code, data }: BridgeError) =>
      code === "PARAMS_INVALID" && JSON.stringify(data).includes('"/cursor"'),
    `accepted "${cursor}"`,
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
