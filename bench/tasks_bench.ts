/** Tasks on PostgreSQL: how fast one is accepted and found, and what many cost. Children are simulated. */
import { createTaskRunner } from "../bridge/calls/task_runner.ts";
import type { TaskRunner, TaskStart } from "../bridge/ports.ts";
import { createPostgresDriver } from "../bridge/store/postgres.ts";
import { createTaskStore } from "../bridge/store/task_store.ts";
import type { JsonObject } from "../schema/json.ts";
import { FakeLogger } from "../tests/support/fake_logger.ts";
import { FakeTelemetry } from "../tests/support/fake_telemetry.ts";
import { postgresPrograms, prepareServer } from "../tests/support/postgres.ts";
import { startCluster } from "../tests/support/postgres_cluster.ts";
import type { Row } from "./row.ts";

type Report = (row: Row) => void;

const CONCURRENT = 50;
const STARTS = 2000;
const GETS = 6000;
const LIVE = 10_000;
// Wide enough for the bench, near enough that counting towards them is paid for.
const LIMITS = {
  runningPerSubject: 500,
  runningPerTenant: 2000,
  keptPerSubject: 1000,
  keptPerTenant: 10_000,
};

/** Runs it against a server of its own, with commits that reach the disk. */
export async function bench(report: Report): Promise<void> {
  const server = await startCluster(postgresPrograms(), { durable: true });
  try {
    const { bridgeUrl } = await prepareServer(server);
    const instance = openInstance(bridgeUrl);
    try {
      await startLatency(instance, report);
      await lookUps(instance, report);
      await statements(instance, report);
      await manyLive(instance, report);
    } finally {
      instance.release();
      await instance.runner.close();
    }
  } finally {
    await server.dispose();
  }
}

interface Instance {
  readonly runner: TaskRunner;
  readonly driver: ReturnType<typeof createPostgresDriver>;
  /** Statements other than heartbeats, maintenance and look-ups. */
  statements: number;
  /** How long the last heartbeat took, in milliseconds. */
  beatMs: number;
  readonly hold: TaskStart["work"];
  /** Lets all held work end. */
  release(): void;
}

function openInstance(url: string): Instance {
  const driver = createPostgresDriver({ url, logger: new FakeLogger() });
  const gate = Promise.withResolvers<JsonObject>();
  const counted: typeof driver = {
    ...driver,
    async query(statement, parameters, options) {
      const startedAt = performance.now();
      const rows = await driver.query(statement, parameters, options);
      if (statement.includes("task_beat")) {
        instance.beatMs = performance.now() - startedAt;
      } else if (/task_(create|finish|get|cancel)/.test(statement)) {
        instance.statements++;
      }
      return rows;
    },
  };
  const instance: Instance = {
    driver,
    statements: 0,
    beatMs: 0,
    hold: () => gate.promise,
    release: () => gate.resolve({}),
    runner: createTaskRunner({
      store: createTaskStore({
        driver: counted,
        instanceId: "bench",
        pluginId: "cyberos",
        leaseMs: 15_000,
      }),
      clock: { now: () => Date.now() },
      logger: new FakeLogger(),
      leaseMs: 15_000,
      limits: LIMITS,
      maxRunning: 1_000_000,
    }),
  };
  return instance;
}

const TENANTS = Array.from({ length: 20 }, () => crypto.randomUUID());

function request(index: number, work: TaskStart["work"]): TaskStart {
  return {
    principal: {
      subject: `user-${index % 200}`,
      tenantId: TENANTS[index % TENANTS.length] as string,
      scopes: new Set(),
    },
    tool: "cyberos.cuo.execute_workflow",
    input: {
      persona: "chief-technology-officer",
      workflow: "architect-new-system",
      inputs: { context: "Build a payment routing system" },
    },
    timeoutMs: 600_000,
    span: new FakeTelemetry().startSpan("tools/call"),
    work,
  };
}

/** Beside as many empty transactions that write, over the same pool. */
async function startLatency(
  { runner, driver, hold }: Instance,
  report: Report,
): Promise<void> {
  await each(500, (index) => runner.start(request(index, hold)));
  const ours = await each(
    STARTS,
    (index) => runner.start(request(index, hold)),
  );
  const bare = await each(STARTS, () =>
    driver.query(
      "select set_config('auth.tenant_id', $1, true), txid_current()",
      [TENANTS[0] as string],
    ));
  report({
    name: `a task accepted, p99 of ${CONCURRENT} at a time`,
    ours: percentile(ours, 0.99),
    peer: percentile(bare, 0.99),
    unit: "ms",
    aim: "under 100 ms; peer: an empty transaction",
  });
}

async function lookUps(
  { runner, driver }: Instance,
  report: Report,
): Promise<void> {
  const start = request(0, () => Promise.resolve({ steps_executed: 10 }));
  const { task } = await runner.start(start);
  const rate = async (call: () => Promise<unknown>): Promise<number> => {
    await each(500, call);
    const startedAt = performance.now();
    await each(GETS, call);
    return GETS / ((performance.now() - startedAt) / 1000);
  };
  report({
    name: "tasks/get",
    ours: await rate(() => runner.get(start.principal, task.taskId)),
    peer: await rate(() => driver.query("select $1::int as n", [1])),
    unit: "a second",
    aim: "3,000 on one core; peer: select $1 over the same pool",
  });
}

async function statements(
  instance: Instance,
  report: Report,
): Promise<void> {
  const before = instance.statements;
  const rounds = 100;
  for (let index = 0; index < rounds; index++) {
    const start = request(index, (context) => {
      for (let step = 1; step <= 10; step++) {
        context.onProgress({ step, total: 10 });
      }
      return Promise.resolve({ ok: true });
    });
    const { task } = await instance.runner.start(start);
    await instance.runner.wait(start.principal, task.taskId, {
      timeoutMs: 10_000,
      signal: new AbortController().signal,
    });
  }
  report({
    name: "statements of a task with progress, followed to its end",
    ours: (instance.statements - before) / rounds,
    peer: 6,
    unit: "statements",
    aim: "at most 6 besides heartbeats",
  });
}

async function manyLive(
  instance: Instance,
  report: Report,
): Promise<void> {
  const before = residentMb();
  await each(
    LIVE,
    (index) => instance.runner.start(request(index, instance.hold)),
  );
  const grown = residentMb() - before;
  report({
    name: `memory of ${LIVE.toLocaleString("en")} running tasks`,
    ours: grown,
    peer: 300,
    unit: "MB",
    aim: "under 300 MB besides their children",
  });
  // Long enough for a heartbeat of all of them.
  await new Promise((resolve) => setTimeout(resolve, 6000));
  report({
    name: `a heartbeat of ${LIVE.toLocaleString("en")} tasks`,
    ours: instance.beatMs,
    peer: 5000,
    unit: "ms",
    aim: "well under the 5 s between two",
  });
}

function residentMb(): number {
  return Deno.memoryUsage().rss / 1_048_576;
}

/** Calls so often, a fixed number at a time; the milliseconds of each. */
async function each(
  count: number,
  call: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const took: number[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: CONCURRENT }, async () => {
      while (next < count) {
        const index = next++;
        const startedAt = performance.now();
        await call(index);
        took.push(performance.now() - startedAt);
      }
    }),
  );
  return took;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] as number;
}
