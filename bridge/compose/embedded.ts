/** The services of `--embedded`: everything in this process, on one data folder. */
import type { SqlDriver, TaskRunner, Upstreams } from "../ports.ts";
import { taskLimits } from "./installed.ts";
import { once, type Services, type ServicesOptions } from "./services.ts";

/** Creates the getters. */
export function embeddedServices(options: ServicesOptions): Services {
  const sql = once(() => openDatabase(options));
  const upstreams = once(() => createUpstreams(options, sql));
  const tasks = once(async () => createTasks(options, await sql()));
  return {
    upstreams,
    tasks,
    async close() {
      if (tasks.made()) await (await tasks()).close();
      if (upstreams.made()) {
        const { cuo, memory, skills } = await upstreams();
        await Promise.all([cuo.close(), memory.close(), skills.close()]);
      }
      if (sql.made()) await (await sql()).close();
    },
  };
}

async function openDatabase(
  { dataDir, log }: ServicesOptions,
): Promise<SqlDriver> {
  const { createEmbeddedDriver } = await import("../store/embedded.ts");
  return createEmbeddedDriver({ dataDir, logger: log });
}

async function createUpstreams(
  { config, telemetry, log, clock }: ServicesOptions,
  sql: () => Promise<SqlDriver>,
): Promise<Upstreams> {
  const { createEmbedded } = await import("../upstream/embedded/embedded.ts");
  return createEmbedded({
    sql,
    pluginId: config.pluginId,
    telemetry,
    log,
    clock,
    ...(config.skillsDir === undefined
      ? {}
      : { skillsDirectory: config.skillsDir }),
    ...(config.cyberosRoot === undefined ? {} : { root: config.cyberosRoot }),
  });
}

async function createTasks(
  options: ServicesOptions,
  driver: SqlDriver,
): Promise<TaskRunner> {
  const [{ createTaskStore }, { createTaskRunner }] = await Promise.all([
    import("../store/task_store.ts"),
    import("../calls/task_runner.ts"),
  ]);
  const { config, log, clock } = options;
  const leaseMs = config.taskLeaseSeconds * 1000;
  const store = createTaskStore({
    driver,
    instanceId: crypto.randomUUID(),
    pluginId: config.pluginId,
    leaseMs,
    embedded: true,
    sharedDriver: true,
  });
  return createTaskRunner({
    store,
    clock,
    logger: log,
    leaseMs,
    limits: taskLimits(options),
  });
}
