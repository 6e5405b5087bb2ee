/** The two tools that run as Tasks: options, start, inline wait. */
import type { JsonObject } from "../../schema/json.ts";
import type { ToolName } from "../../schema/tools.ts";
import type { RunContext, TaskRunner } from "../ports.ts";
import type { Principal, TaskView } from "../types.ts";
import type { ToolAnswer, ToolContext } from "./tool_set.ts";

const DEFAULT_TIMEOUT_SECONDS = 600;
// A confirmation token holds for five minutes and at most one of clock skew: the
// task that it started must be there as long, or a replay would start another.
const REPLAYABLE_MS = 360_000;

/** A run to start as a task. */
export interface TaskRun {
  readonly tool: ToolName;
  /** The validated arguments, task options included. */
  readonly arguments: JsonObject;
  readonly work: (
    input: JsonObject,
    context: RunContext,
  ) => Promise<JsonObject>;
  readonly onEnd?: (task: TaskView) => Promise<void>;
}

/**
 * Starts the run, or finds the one that its idempotency key started, and
 * answers with the handle, the result if it is there within `wait_seconds`, or
 * where the task stands.
 *
 * Source: TASK-PLUGIN-002 §1 clause 5; PRODUCT decision D6.
 *
 * @throws {BridgeError} `STORE_UNAVAILABLE`, `TASK_LIMIT`, `CONFLICT`.
 */
export async function runAsTask(
  runner: TaskRunner,
  run: TaskRun,
  context: ToolContext,
): Promise<ToolAnswer> {
  const task = context.earlier ?? await start(runner, run, context);
  if (context.task !== undefined) return { kind: "created", task };
  const { wait_seconds } = run.arguments;
  const waitMs = 1000 * ((wait_seconds as number | undefined) ?? 0);
  if (waitMs === 0 || task.status !== "running") return { kind: "state", task };
  return {
    kind: "state",
    task: await runner.wait(context.principal, task.taskId, {
      timeoutMs: waitMs,
      signal: context.signal,
      onProgress: context.onProgress,
    }),
  };
}

/**
 * The task that the call's idempotency key started before, if it has a key.
 *
 * @throws {BridgeError} `CONFLICT`, `STORE_UNAVAILABLE`.
 */
export async function findEarlier(
  tasks: () => Promise<TaskRunner>,
  tool: ToolName,
  call: { readonly arguments: JsonObject; readonly principal: Principal },
): Promise<TaskView | undefined> {
  const { input, key } = split(call.arguments);
  if (key === undefined) return undefined;
  const runner = await tasks();
  return await runner.find?.({
    principal: call.principal,
    tool,
    input,
    idempotencyKey: key,
  });
}

async function start(
  runner: TaskRunner,
  run: TaskRun,
  context: ToolContext,
): Promise<TaskView> {
  const { input, timeoutMs, key = context.replayKey } = split(run.arguments);
  const ttlMs = ttlOf(context);
  const { task } = await runner.start({
    principal: context.principal,
    tool: run.tool,
    input,
    ...(key === undefined ? {} : { idempotencyKey: key }),
    timeoutMs,
    ...(ttlMs === undefined ? {} : { ttlMs }),
    span: context.span,
    work: (runContext) => run.work(input, runContext),
    ...(run.onEnd === undefined ? {} : { onEnd: run.onEnd }),
  });
  context.log("debug", { event: "task started", task_id: task.taskId });
  return task;
}

function ttlOf({ task, replayKey }: ToolContext): number | undefined {
  const asked = task?.ttlMs;
  return asked === undefined || replayKey === undefined
    ? asked
    : Math.max(asked, REPLAYABLE_MS);
}

/** The run's own arguments, and the options of its task. */
function split(
  args: JsonObject,
): { input: JsonObject; timeoutMs: number; key?: string } {
  const { wait_seconds: _, timeout_seconds, idempotency_key, ...input } = args;
  return {
    input,
    timeoutMs: 1000 *
      ((timeout_seconds as number | undefined) ?? DEFAULT_TIMEOUT_SECONDS),
    ...(idempotency_key === undefined
      ? {}
      : { key: idempotency_key as string }),
  };
}
