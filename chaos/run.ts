/**
 * Three instances, one PostgreSQL, many workflows, and everything that can go
 * wrong going wrong: afterwards every promise about tasks must still hold.
 */
import { startServices } from "../tests/e2e/installation.ts";
import {
  connectAdmin,
  postgresPrograms,
  prepareServer,
} from "../tests/support/postgres.ts";
import { startCluster } from "../tests/support/postgres_cluster.ts";
import { installChaosCuo } from "./cuo_program.ts";
import { type DisasterCount, disasters } from "./disasters.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { type LoadRecord, startLoad } from "./load.ts";
import { createChance } from "./random.ts";
import { type FinalRow, judge, type Verdict } from "./verdict.ts";

/** How much chaos. */
export interface ChaosOptions {
  readonly seed: number;
  /** How long things go wrong. */
  readonly seconds: number;
  /** Workflows that run at one time. */
  readonly concurrency: number;
  /** Seconds between two disasters, on average. */
  readonly every: number;
  readonly stepSeconds: number;
  readonly leaseSeconds: number;
  readonly say: (text: string) => void;
}

/** What came of it. */
export interface ChaosReport {
  readonly verdicts: readonly Verdict[];
  readonly disasters: DisasterCount;
  readonly record: LoadRecord;
  /** Accepted tasks by final state. */
  readonly states: Readonly<Record<string, number>>;
  readonly lastTaskEndedAfterMs: number;
}

const INSTANCES = 3;
// After the last disaster a lease has to lapse, be noticed, and be told.
const SETTLE_LEASES = 6;

/** Runs it. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { say } = options;
  const chance = createChance(options.seed);
  const server = await startCluster(postgresPrograms(), { durable: true });
  try {
    const { ownerUrl, bridgeUrl } = await prepareServer(server);
    await using services = await startServices();
    await using cuo = await installChaosCuo();
    let orphans: readonly number[] = [];
    let report: Omit<ChaosReport, "verdicts"> | undefined;
    let broken: readonly string[] = [];
    let rows: readonly FinalRow[] = [];
    {
      await using fleet = await startFleet({
        services,
        cuo: cuo.installed,
        bridgeUrl,
        size: INSTANCES,
        leaseSeconds: options.leaseSeconds,
      });
      say(`${INSTANCES} instances are up`);
      const load = startLoad({
        fleet,
        services,
        chance: chance.fork("load"),
        concurrency: options.concurrency,
        stepSeconds: options.stepSeconds,
      });
      const count = await disasters({
        ...options,
        fleet,
        services,
        server,
        chance: chance.fork("disasters"),
        terminateBackends: () => terminateBackends(ownerUrl),
      });
      load.stopStarting();
      say("Everything is up again; the last tasks end");
      const calmAt = performance.now();
      const settleMs = 1000 *
        (options.stepSeconds * 4 + options.leaseSeconds * SETTLE_LEASES + 10);
      await Promise.race([load.finished, pause(settleMs)]);
      report = {
        disasters: count,
        record: load.record,
        states: countStates(load.record),
        lastTaskEndedAfterMs: Math.round(performance.now() - calmAt),
      };
      broken = await brokenInstances(fleet, await services.token());
      rows = await readRows(ownerUrl);
    }
    await pause(1500);
    orphans = await cuo.alive();
    const journal = await cuo.journal();
    return {
      ...report,
      verdicts: judge({
        record: report.record,
        journal,
        rows,
        orphans,
        broken,
        instances: INSTANCES,
        kills: report.disasters.kills,
      }),
    };
  } finally {
    await server.dispose();
  }
}

function countStates({ tasks }: LoadRecord): Record<string, number> {
  const states: Record<string, number> = {};
  for (const { final } of tasks) {
    const status = final === undefined
      ? "unknown"
      : final.status === "failed"
      ? `failed: ${final.answer.error?.message}`
      : final.status;
    states[status] = (states[status] ?? 0) + 1;
  }
  return states;
}

/** Each instance must be ready and run a workflow to its end. */
async function brokenInstances(
  fleet: Fleet,
  token: string,
): Promise<readonly string[]> {
  const broken: string[] = [];
  for (let instance = 0; instance < fleet.size; instance++) {
    let lack = await fleet.lacks(instance);
    for (let look = 0; lack !== undefined && look < 30; look++) {
      await pause(500);
      lack = await fleet.lacks(instance);
    }
    if (lack !== undefined) broken.push(`instance ${instance}: ${lack}`);
    const reply = await fleet.post(instance, token, {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "cyberos.cuo.execute_workflow",
        arguments: {
          persona: "cto",
          workflow: "adr",
          inputs: { key: `last-${instance}`, steps: 1, seconds: 0.1, crash: 0 },
          idempotency_key: `last-${instance}`,
          wait_seconds: 15,
        },
      },
    });
    const status = "result" in reply
      ? reply.result?.structuredContent?.status
      : undefined;
    if (status !== "completed") {
      broken.push(`instance ${instance}: ${JSON.stringify(reply)}`);
    }
  }
  return broken;
}

async function readRows(url: string): Promise<readonly FinalRow[]> {
  await using admin = connectAdmin(url);
  return await admin.run(
    "select task_id, tenant_id::text, status, idempotency_key, floor(extract(epoch from created_at) * 1000)::float8 as created_at from plugin_host.tasks where idempotency_key not like 'last-%'",
  ) as unknown as FinalRow[];
}

async function terminateBackends(url: string): Promise<void> {
  await using admin = connectAdmin(url);
  await admin.run(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'bridge_login' and random() < 0.5",
  );
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    Deno.unrefTimer(timer as unknown as number);
  });
}
