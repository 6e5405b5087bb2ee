/** Callers that start, follow, cancel and pry, and remember what they were told. */
import type { Services } from "../tests/e2e/installation.ts";
import { TENANT_A, TENANT_B } from "../tests/support/tokens.ts";
import type { Fleet, Reply } from "./fleet.ts";
import type { Chance } from "./random.ts";

/** A task that an instance accepted, and everything that was said of it. */
export interface AcceptedTask {
  readonly taskId: string;
  readonly key: string;
  readonly tenantId: string;
  /** The same names in every tenant, so that only the tenant tells them apart. */
  readonly subject: string;
  readonly steps: number;
  /** The step in which its child crashes; 0: none. */
  readonly crash: number;
  cancelAsked: boolean;
  /** The first final state that somebody was told, with the whole answer. */
  final: Final | undefined;
  /** Whoever was told another one later. */
  readonly contradictions: string[];
}

/** A final state as it was told. */
export interface Final {
  readonly status: string;
  // deno-lint-ignore no-explicit-any -- read loosely by the verdict.
  readonly answer: any;
}

/** What the callers saw in all. */
export interface LoadRecord {
  readonly tasks: AcceptedTask[];
  calls: number;
  /** Calls that were refused as upstream_unavailable, or reached nobody. */
  unavailable: number;
  /** Anything else than the answers that a caller may get. */
  readonly surprises: string[];
  /** Tasks of one tenant that another one was shown. */
  readonly foreign: string[];
  repeats: number;
  probes: number;
}

/** How much is asked. */
export interface LoadOptions {
  readonly fleet: Fleet;
  readonly services: Services;
  readonly chance: Chance;
  /** Tasks that run at one time. */
  readonly concurrency: number;
  /** Seconds that one step of a workflow takes, at most. */
  readonly stepSeconds: number;
}

/** A load that is on until it is told to stop, and then until every task was seen to end. */
export interface Load {
  readonly record: LoadRecord;
  stopStarting(): void;
  /** Resolves when every caller is through. */
  readonly finished: Promise<void>;
}

const TENANTS = [TENANT_A, TENANT_B];
const SUBJECTS = 40;
const POLL_MS = 500;

/** Starts the callers. */
export function startLoad(options: LoadOptions): Load {
  const { fleet, services, chance } = options;
  const record: LoadRecord = {
    tasks: [],
    calls: 0,
    unavailable: 0,
    surprises: [],
    foreign: [],
    repeats: 0,
    probes: 0,
  };
  let starting = true;
  let nextKey = 0;
  let nextId = 0;

  async function call(
    who: { readonly tenantId: string; readonly subject: string },
    method: string,
    params: unknown,
  ): Promise<Reply> {
    record.calls++;
    const { tenantId, subject } = who;
    const token = await services.token({ tenantId, subject });
    const reply = await fleet.post(
      chance.between(0, fleet.size - 1),
      token,
      { jsonrpc: "2.0", id: ++nextId, method, params },
    );
    if (isAway(reply)) record.unavailable++;
    return reply;
  }

  function execute(task: Plan): Promise<Reply> {
    return call(task, "tools/call", {
      name: "cyberos.cuo.execute_workflow",
      arguments: {
        persona: "cto",
        workflow: "adr",
        inputs: {
          key: task.key,
          steps: task.steps,
          seconds: task.seconds,
          crash: task.crash,
        },
        idempotency_key: task.key,
        timeout_seconds: 120,
      },
    });
  }

  /** Until an instance accepts it: a caller without an answer repeats with the same key. */
  async function start(): Promise<AcceptedTask | undefined> {
    const plan = makePlan();
    for (let attempt = 0; attempt < 200; attempt++) {
      if (attempt > 0) record.repeats++;
      const reply = await execute(plan);
      const taskId = "result" in reply
        ? reply.result?.structuredContent?.task_id
        : undefined;
      if (typeof taskId === "string") {
        const task: AcceptedTask = {
          ...plan,
          taskId,
          cancelAsked: false,
          final: undefined,
          contradictions: [],
        };
        record.tasks.push(task);
        return task;
      }
      if (!isAway(reply)) {
        record.surprises.push(`start: ${JSON.stringify(reply)}`);
        return undefined;
      }
      await pause(100 + chance.next() * 400);
    }
    record.surprises.push("start: refused 200 times");
    return undefined;
  }

  function makePlan(): Plan {
    const steps = chance.between(1, 4);
    return {
      key: `k${nextKey++}`,
      subject: `user-${chance.between(1, SUBJECTS)}`,
      tenantId: chance.pick(TENANTS),
      steps,
      seconds: Number(
        (options.stepSeconds * (0.2 + 0.8 * chance.next())).toFixed(2),
      ),
      crash: chance.happens(0.1) ? chance.between(1, steps) : 0,
    };
  }

  async function follow(task: AcceptedTask): Promise<void> {
    const cancels = chance.happens(0.15);
    for (let look = 0; task.final === undefined; look++) {
      await pause(POLL_MS * (0.5 + chance.next()));
      if (cancels && look === 1) await cancel(task);
      hear(task, await get(task));
      if (chance.happens(0.1)) await pry(task);
      // A repeat under the same key must never start another run.
      if (chance.happens(0.1)) await repeat(task);
    }
  }

  function get(task: AcceptedTask): Promise<Reply> {
    return call(task, "tasks/get", { id: task.taskId });
  }

  async function cancel(task: AcceptedTask): Promise<void> {
    const reply = await call(task, "tasks/cancel", {
      id: task.taskId,
    });
    // Whether or not its answer arrived, it may have been heard.
    task.cancelAsked = true;
    if ("result" in reply) hear(task, reply);
  }

  async function repeat(task: AcceptedTask): Promise<void> {
    const reply = await execute(task as unknown as Plan);
    if (!("result" in reply)) return;
    const { task_id } = reply.result.structuredContent ?? {};
    if (task_id !== task.taskId) {
      record.surprises.push(`repeat: ${task_id} instead of ${task.taskId}`);
    }
  }

  async function pry(task: AcceptedTask): Promise<void> {
    record.probes++;
    const stranger = {
      tenantId: TENANTS.find((one) => one !== task.tenantId) as string,
      subject: task.subject,
    };
    const method = chance.pick(["tasks/get", "tasks/cancel"]);
    const reply = await call(stranger, method, { id: task.taskId });
    if ("result" in reply) record.foreign.push(task.taskId);
    else if (
      !isAway(reply) && "error" in reply &&
      reply.error?.message !== "Task not found"
    ) record.surprises.push(`pry: ${JSON.stringify(reply)}`);
  }

  function hear(task: AcceptedTask, reply: Reply): void {
    if (isAway(reply)) return;
    if (!("result" in reply) || reply.result?.status === undefined) {
      record.surprises.push(`${task.taskId}: ${JSON.stringify(reply)}`);
      task.final ??= { status: "vanished", answer: reply };
      return;
    }
    const { status } = reply.result;
    if (task.final !== undefined && status !== task.final.status) {
      task.contradictions.push(`${task.final.status}, then ${status}`);
    }
    if (status !== "running") task.final ??= { status, answer: reply.result };
  }

  async function caller(): Promise<void> {
    while (starting) {
      const task = await start();
      if (task !== undefined) await follow(task);
    }
  }

  const finished = Promise.all(
    Array.from({ length: options.concurrency }, async () => {
      // Not all in the same moment.
      await pause(chance.next() * 2000);
      await caller();
    }),
  ).then(() => {});
  return {
    record,
    finished,
    stopStarting() {
      starting = false;
    },
  };
}

interface Plan {
  readonly key: string;
  readonly tenantId: string;
  readonly subject: string;
  readonly steps: number;
  readonly seconds: number;
  readonly crash: number;
}

/** An outage as a caller may meet it. */
function isAway(reply: Reply): boolean {
  if ("unreachable" in reply) return true;
  const errorClass = reply.error?.data?.class;
  // tasks/get of a failed task is a result; this is the call's own failure.
  return errorClass === "upstream_unavailable";
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
