/** The services of a CyberOS installation: CUO, memory, skills, PostgreSQL. */
import { createAbsentTaskRunner } from "../calls/task_runner_absent.ts";
import type { TaskRunner, Upstreams } from "../ports.ts";
import { once, type Services, type ServicesOptions } from "./services.ts";

const NO_DATABASE =
  "Workflows and skills run as tasks, which need PostgreSQL: set CYBEROS_DATABASE_URL (and run cyberos-mcp-bridge migrate once), or start with --embedded for a first try";

/** Creates the getters. */
export function installedServices(options: ServicesOptions): Services {
  const upstreams = once(() => createUpstreams(options));
  const tasks = once(() => createTasks(options));
  return {
    upstreams,
    tasks,
    async close() {
      if (tasks.made()) await (await tasks()).close();
      if (!upstreams.made()) return;
      const { cuo, memory, skills } = await upstreams();
      await Promise.all([cuo.close(), memory.close(), skills.close()]);
    },
  };
}

async function createUpstreams(options: ServicesOptions): Promise<Upstreams> {
  const [{ createCuo }, { createMemory }, { createSkills }] = await Promise.all(
    [
      import("../upstream/cuo/cuo.ts"),
      import("../upstream/memory/memory.ts"),
      import("../upstream/skills/skills.ts"),
    ],
  );
  const { config, telemetry, log, clock } = options;
  const common = { telemetry, log, clock };
  return {
    cuo: createCuo({
      ...common,
      // The launcher looked for it: what it did not find is named as it was asked for.
      program: options.cuoProgram ?? config.cuo,
      protocol: config.cuoProtocol,
      environment: options.childEnv,
      passEnvironment: config.cuoEnv,
      ...given("endpoint", config.cuoEndpoint),
      ...given("token", credential(config.cuoToken)),
      ...given("root", config.cyberosRoot),
      ...given("workDir", options.workDir),
      ...given("processTree", options.processTree),
    }),
    memory: createMemory({
      ...common,
      endpoint: config.memoryEndpoint,
      ...given("token", credential(config.memoryToken)),
    }),
    skills: createSkills({
      ...common,
      ...given("brokerEndpoint", config.skillBrokerEndpoint),
      ...given("token", credential(config.skillBrokerToken)),
      ...given("directory", config.skillsDir),
      ...given("root", config.cyberosRoot),
    }),
  };
}

async function createTasks(options: ServicesOptions): Promise<TaskRunner> {
  const { config, log, clock } = options;
  if (config.databaseUrl === undefined) {
    return createAbsentTaskRunner(NO_DATABASE);
  }
  const [{ createPostgresDriver }, { createTaskStore }, { createTaskRunner }] =
    await Promise.all([
      import("../store/postgres.ts"),
      import("../store/task_store.ts"),
      import("../calls/task_runner.ts"),
    ]);
  const driver = createPostgresDriver({
    url: config.databaseUrl,
    logger: log,
    poolSize: config.databasePoolSize,
  });
  const leaseMs = config.taskLeaseSeconds * 1000;
  const store = createTaskStore({
    driver,
    instanceId: crypto.randomUUID(),
    pluginId: config.pluginId,
    leaseMs,
  });
  return createTaskRunner({
    store,
    clock,
    logger: log,
    leaseMs,
    limits: taskLimits(options),
    // On stdio a database is looked for when somebody needs it; a server looks after others' tasks.
    eager: config.transport === "http",
  });
}

/** The bounds of running tasks, as configured. */
export function taskLimits(
  { config }: ServicesOptions,
): { runningPerSubject: number; runningPerTenant: number } {
  return {
    runningPerSubject: config.maxTasksPerSubject,
    runningPerTenant: config.maxTasksPerTenant,
  };
}

function given<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): Partial<Record<Key, Value>> {
  return value === undefined ? {} : { [key]: value } as Record<Key, Value>;
}

function credential(token: string | undefined): (() => string) | undefined {
  return token === undefined ? undefined : () => token;
}
