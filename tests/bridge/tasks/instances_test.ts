/** The task runner on PostgreSQL: several instances, outages, and many callers. */
import assert from "node:assert/strict";
import type { BridgeError } from "../../../bridge/errors.ts";
import {
  postgresPrograms,
  postgresTest,
  prepareServer,
  WITHOUT_POSTGRES,
} from "../../support/postgres.ts";
import { startCluster } from "../../support/postgres_cluster.ts";
import { startProxy } from "../../support/tcp_proxy.ts";
import { eventually } from "../store/fixtures.ts";
import {
  holdWork,
  instancesTest,
  newPrincipal,
  openInstance,
  startOf,
} from "./bench.ts";

const FOREVER = new AbortController().signal;

instancesTest(
  "TASK-08 a task is found on another instance in the moment its start is answered",
  async ([first, second]) => {
    const held = holdWork();
    for (let round = 0; round < 30; round++) {
      const start = startOf(held.work);
      const { task } = await first.runner.start(start);
      const seen = await second.runner.get(start.principal, task.taskId);
      assert.equal(seen.status, "running");
    }
  },
);

instancesTest(
  "50 identical calls under one key on two instances start the work once",
  async (instances) => {
    const held = holdWork();
    const principal = newPrincipal();
    const call = (index: number) =>
      (instances[index % 2] as typeof instances[0]).runner.start(
        startOf(held.work, { principal, idempotencyKey: "once" }),
      );
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, i) => call(i)),
    );
    assert.equal(new Set(all.map(({ task }) => task.taskId)).size, 1);
    assert.equal(all.filter(({ created }) => created).length, 1);
    await eventually(() => held.runs.length === 1);
    held.complete({ answer: 42 });
    await eventually(async () => (await call(1)).task.status === "completed");
    const collected = await call(0);
    assert.deepEqual(collected.task.output, { answer: 42 });
    assert.equal(collected.created, false);
    assert.equal(held.runs.length, 1);
    await assert.rejects(
      instances[0].runner.start(
        startOf(held.work, { principal, idempotencyKey: "once", input: {} }),
      ),
      (error: BridgeError) =>
        error.code === "CONFLICT" && error.class === "input_validation",
    );
    const reordered = startOf(held.work, {
      principal,
      idempotencyKey: "once",
      input: { inputs: {}, workflow: "adr", persona: "cto" },
    });
    const same = await instances[1].runner.start(reordered);
    assert.equal(same.created, false, "the order of members does not matter");
  },
);

instancesTest(
  "TASK-09 waiting holds no connection, hears of the end at once, and can be left",
  async ([first, second]) => {
    const held = holdWork();
    const start = startOf(held.work);
    const { task } = await first.runner.start(start);
    const leavers = Array.from({ length: 5 }, () => new AbortController());
    const wait = (signal: AbortSignal) =>
      second.runner.wait(start.principal, task.taskId, {
        timeoutMs: 20_000,
        signal,
      });
    const stay = Array.from({ length: 15 }, () => wait(FOREVER));
    const left = leavers.map(({ signal }) => wait(signal));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const others = await Promise.all(
      Array.from(
        { length: 20 },
        () => second.runner.get(start.principal, task.taskId),
      ),
    );
    assert.equal(others.length, 20, "the pool of 5 serves others meanwhile");
    for (const leaver of leavers) leaver.abort(new Error("gone"));
    for (const one of left) await assert.rejects(one, /gone/);
    const endedAt = performance.now();
    held.complete({ ok: true });
    const answers = await Promise.all(stay);
    assert.ok(performance.now() - endedAt < 1000, "within a second");
    assert.ok(answers.every(({ status }) => status === "completed"));
    const late = await wait(FOREVER);
    assert.deepEqual(late.output, { ok: true }, "no wait for what has ended");
  },
);

instancesTest(
  "waiting ends with its deadline, and says how the task stands then",
  async ([first, second]) => {
    const held = holdWork();
    const start = startOf(held.work);
    const { task } = await first.runner.start(start);
    for (const { runner } of [first, second]) {
      const startedAt = performance.now();
      const seen = await runner.wait(start.principal, task.taskId, {
        timeoutMs: 200,
        signal: FOREVER,
      });
      assert.equal(seen.status, "running");
      assert.ok(performance.now() - startedAt < 1500);
    }
  },
);

postgresTest(
  "D7 what a killed instance ran is closed by another one, and a slow one's is not",
  async (database) => {
    // A lease long enough that a busy machine does not let a live one lapse.
    const options = { leaseMs: 1500, pollIntervalMs: 100 };
    const proxy = startProxy(Number(new URL(database.bridgeUrl).port));
    const proxied = new URL(database.bridgeUrl);
    proxied.port = String(proxy.port);
    const dead = openInstance(proxied.href, options);
    const alive = openInstance(database.bridgeUrl, options);
    const closer = openInstance(database.bridgeUrl, {
      ...options,
      eager: true,
    });
    const held = holdWork();
    try {
      const start = startOf(held.work, { idempotencyKey: "k" });
      const kept = startOf(held.work, { principal: start.principal });
      const lost = await dead.runner.start(start);
      const running = await alive.runner.start(kept);
      // As good as kill -9: from now on it reaches nobody.
      proxy.mode = "accept-and-close";
      proxy.cut();
      const ended = await closer.runner.wait(
        start.principal,
        lost.task.taskId,
        { timeoutMs: 15_000, signal: FOREVER },
      );
      assert.equal(ended.status, "failed");
      assert.equal(ended.error?.data.class, "upstream_unavailable");
      assert.equal(ended.error?.data.trace_id, lost.task.traceId);
      assert.match(String(ended.error?.data.hint), /Run it again/);
      const other = await closer.runner.get(
        start.principal,
        running.task.taskId,
      );
      assert.equal(other.status, "running");
      // It was only cut off: back again, it learns that its task is gone and stops.
      proxy.mode = "forward";
      await eventually(() => held.runs[0]?.signal.aborted === true, 10_000);
      assert.equal(held.runs[1]?.signal.aborted, false);
      held.complete({ late: true });
      await eventually(async () =>
        (await closer.runner.get(start.principal, running.task.taskId))
          .status === "completed"
      );
      const again = await alive.runner.start(start);
      assert.equal(again.created, false);
      assert.deepEqual(again.task, ended, "no resurrection, no second run");
      assert.equal(held.runs.length, 2);
    } finally {
      for (const { runner, driver } of [dead, alive, closer]) {
        await runner.close();
        await driver.close();
      }
      await proxy.close();
    }
  },
);

Deno.test({
  name:
    "P2-FM05 while PostgreSQL is away task calls are refused as upstream_unavailable, and running work loses nothing",
  ignore: WITHOUT_POSTGRES,
  async fn() {
    const server = await startCluster(postgresPrograms(), { durable: true });
    const { bridgeUrl } = await prepareServer(server);
    const instance = openInstance(bridgeUrl, { leaseMs: 1500, eager: true });
    const { runner } = instance;
    const held = holdWork();
    const start = startOf(held.work);
    try {
      const { task } = await runner.start(start);
      await server.stop("immediate");
      const calls = [
        () => runner.start(startOf(held.work)),
        () => runner.get(start.principal, task.taskId),
        () => runner.list(start.principal, {}),
        () => runner.cancel(start.principal, task.taskId),
        () =>
          runner.wait(start.principal, task.taskId, {
            timeoutMs: 100,
            signal: FOREVER,
          }),
      ];
      for (const call of calls) {
        await assert.rejects(
          call(),
          (error: BridgeError) =>
            error.code === "STORE_UNAVAILABLE" && error.retryable &&
            error.class === "upstream_unavailable" &&
            !/\d+\.\d+\.\d+|postgres:|ECONN/.test(error.message + error.hint),
        );
      }
      assert.equal(
        (await runner.status(AbortSignal.timeout(1000))).state,
        "down",
      );
      // It ends while nobody can be told, and stays away longer than a lease.
      held.complete({ steps_executed: 7 });
      await new Promise((resolve) => setTimeout(resolve, 1800));
      await server.start();
      await eventually(async () => {
        const seen = await runner.get(start.principal, task.taskId)
          .catch(() => undefined);
        return seen?.status === "completed" &&
          seen.output?.steps_executed === 7;
      }, 10_000);
      const status = await runner.status(AbortSignal.timeout(1000));
      assert.equal(status.state, "ok", "without a restart");
    } finally {
      await runner.close();
      await instance.driver.close();
      await server.dispose();
    }
  },
});

instancesTest(
  "a cancel that NOTIFY did not carry arrives with the next heartbeat",
  async ([first], database) => {
    const held = holdWork();
    const start = startOf(held.work);
    const { task } = await first.runner.start(start);
    await eventually(() => held.runs.length === 1);
    await database.admin(
      `update plugin_host.tasks set status = 'cancelled', completed_at = now() where task_id = '${task.taskId}'`,
    );
    await eventually(() => held.idle);
    const seen = await first.runner.get(start.principal, task.taskId);
    assert.equal(seen.status, "cancelled");
  },
  { leaseMs: 900 },
);

instancesTest(
  "a task costs the database two statements besides heartbeats and look-ups",
  async ([{ driver }]) => {
    let statements = 0;
    const counted: typeof driver = {
      ...driver,
      query: (statement, parameters, options) => {
        if (
          !/task_beat|task_tenants_due|task_maintain|bridge_check/.test(
            statement,
          )
        ) {
          statements++;
        }
        return driver.query(statement, parameters, options);
      },
    };
    const { runner } = openInstance("", { driver: counted, leaseMs: 300 });
    try {
      const held = holdWork();
      const start = startOf(held.work);
      await runner.start(start);
      await eventually(() => held.runs.length === 1);
      for (let step = 1; step <= 50; step++) {
        held.runs[0]?.onProgress({ step, total: 50 });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const done = Promise.withResolvers<void>();
      held.complete({});
      setTimeout(done.resolve, 200);
      await done.promise;
      assert.ok(statements <= 6, `${statements} statements`);
      assert.equal(statements, 2);
    } finally {
      await runner.close();
    }
  },
);
