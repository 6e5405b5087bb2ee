/** The two tools that run as Tasks: options, start, inline wait. */
import type { JsonObject } from "../../schema/json.ts";
import type { ToolName } from "../../schema/tools.ts";
import type { RunContext, TaskRunner } from "../ports.ts";
import type { TaskView } from "../types.ts";
import type { ToolAnswer, ToolContext } from "./tool_set.ts";

const DEFAULT_TIMEOUT_SECONDS = 600;

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
  const { wait_seconds, timeout_seconds, idempotency_key, ...input } =
    run.arguments;
  const key = (idempotency_key as string | undefined) ?? context.replayKey;
  const { task } = await runner.start({
    principal: context.principal,
    tool: run.tool,
    input,
    ...(key === undefined ? {} : { idempotencyKey: key }),
    timeoutMs: 1000 *
      ((timeout_seconds as number | undefined) ?? DEFAULT_TIMEOUT_SECONDS),
    ...(context.task?.ttlMs === undefined ? {} : { ttlMs: context.task.ttlMs }),
    span: context.span,
    work: (runContext) => run.work(input, runContext),
    ...(run.onEnd === undefined ? {} : { onEnd: run.onEnd }),
  });
  context.log("debug", { event: "task started", task_id: task.taskId });
  if (context.task !== undefined) return { kind: "created", task };
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
