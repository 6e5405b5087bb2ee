/** Runners on a real database, and work that tests hold in their hands. */
import { newTaskId } from "../../../bridge/calls/task_id.ts";
import { createTaskRunner } from "../../../bridge/calls/task_runner.ts";
import type { TaskRunnerOptions } from "../../../bridge/calls/task_runner_options.ts";
import type {
  RunContext,
  SqlDriver,
  TaskRunner,
  TaskStart,
} from "../../../bridge/ports.ts";
import { createPostgresDriver } from "../../../bridge/store/postgres.ts";
import { createTaskStore } from "../../../bridge/store/task_store.ts";
import type { Principal } from "../../../bridge/types.ts";
import type { JsonObject } from "../../../schema/json.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import { FakeTelemetry } from "../../support/fake_telemetry.ts";
import { postgresTest, type TestDatabase } from "../../support/postgres.ts";

/** A caller of a tenant of its own. */
export function newPrincipal(overrides: Partial<Principal> = {}): Principal {
  return {
    subject: "ann",
    tenantId: crypto.randomUUID(),
    scopes: new Set(),
    ...overrides,
  };
}

/** Work that ends when it is told. */
export interface HeldWork {
  readonly work: TaskStart["work"];
  /** How often it was started. */
  readonly runs: readonly RunContext[];
  /** Whether every run has ended. */
  readonly idle: boolean;
  complete(output: JsonObject): void;
  fail(error: unknown): void;
}

/** Makes held work; it ends by itself when its signal aborts, unless it is `stubborn`. */
export function holdWork(options: { stubborn?: boolean } = {}): HeldWork {
  const gate = Promise.withResolvers<JsonObject>();
  gate.promise.catch(() => {});
  const runs: RunContext[] = [];
  let active = 0;
  return {
    runs,
    get idle() {
      return active === 0;
    },
    complete: gate.resolve,
    fail: gate.reject,
    async work(context) {
      runs.push(context);
      active++;
      try {
        return await (options.stubborn
          ? gate.promise
          : Promise.race([gate.promise, whenAborted(context.signal)]));
      } finally {
        active--;
      }
    },
  };
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener("abort", () => reject(signal.reason), {
      once: true,
    })
  );
}

/** What a task is started with, complete but for what the test is about. */
export function startOf(
  work: TaskStart["work"],
  overrides: Partial<TaskStart> = {},
): TaskStart {
  return {
    principal: newPrincipal(),
    tool: "cyberos.cuo.execute_workflow",
    input: { persona: "cto", workflow: "adr", inputs: {} },
    timeoutMs: 60_000,
    span: new FakeTelemetry().startSpan("tools/call"),
    work,
    ...overrides,
  };
}

/** One instance of the bridge, as far as tasks go. */
export interface Instance {
  readonly runner: TaskRunner;
  readonly driver: SqlDriver;
  readonly log: FakeLogger;
}

/** What {@link openInstance} may be told. */
export type InstanceOptions = Partial<TaskRunnerOptions> & {
  readonly url?: string;
  readonly poolSize?: number;
  readonly driver?: SqlDriver;
};

/** Opens an instance. */
export function openInstance(
  url: string,
  options: InstanceOptions = {},
): Instance {
  const log = new FakeLogger();
  const leaseMs = options.leaseMs ?? 15_000;
  const driver = options.driver ?? createPostgresDriver({
    url,
    logger: log,
    poolSize: options.poolSize ?? 5,
    statementTimeoutMs: 3000,
    connectTimeoutMs: 1000,
  });
  const store = createTaskStore({
    driver,
    instanceId: `i-${newTaskId()}`,
    leaseMs,
    patienceMs: leaseMs,
    pluginId: "cyberos",
  });
  const runner = createTaskRunner({
    store,
    clock: { now: () => Date.now() },
    logger: log,
    leaseMs,
    stopGraceMs: 2000,
    ...options,
  });
  return { runner, driver, log };
}

/** Registers a test with some instances on one database; they are closed after it. */
export function instancesTest(
  name: string,
  run: (
    instances: readonly [Instance, Instance],
    database: TestDatabase,
  ) => Promise<void>,
  options: InstanceOptions = {},
): void {
  postgresTest(name, async (database) => {
    const instances = [
      openInstance(database.bridgeUrl, options),
      openInstance(database.bridgeUrl, options),
    ] as const;
    try {
      await run(instances, database);
    } finally {
      await Promise.all(instances.map(async ({ runner, driver }) => {
        await runner.close();
        await driver.close();
      }));
    }
  });
}
