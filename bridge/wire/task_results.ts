/** A task in the two dialects of PRODUCT decision D6. */
import type { JsonObject } from "../../schema/json.ts";
import { durationMs } from "../calls/audit_trail.ts";
import { BridgeError } from "../errors.ts";
import type { TaskFailure, TaskStatus, TaskView } from "../types.ts";

const MCP_STATUS: Readonly<Record<TaskStatus, string>> = {
  running: "working",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** MCP's `Task`. Source: MCP 2025-11-25 schema. */
export function toMcpTask(task: TaskView): JsonObject {
  const statusMessage = statusMessageOf(task);
  return {
    taskId: task.taskId,
    status: MCP_STATUS[task.status],
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: new Date(task.createdAtMs).toISOString(),
    lastUpdatedAt: new Date(task.updatedAtMs).toISOString(),
    ttl: task.ttlMs,
    pollInterval: task.pollIntervalMs,
  };
}

/**
 * The specification's own shape, which is also the `structuredContent` of the
 * two Task tools. Source: TASK-PLUGIN-002 §3.
 */
export function toTaskState(task: TaskView): JsonObject {
  const { progress } = task;
  return {
    task_id: task.taskId,
    status: task.status,
    ...(task.output === undefined ? {} : { output: task.output }),
    ...toTaskError(failureOf(task)),
    ...(task.status === "running"
      ? progress === undefined ? {} : { progress: { ...progress } }
      : { duration_ms: durationMs(task) }),
  };
}

/** What a failed task failed with, under the trace id of the call that made it. */
export function failureOf(task: TaskView): TaskFailure | undefined {
  const { error, traceId } = task;
  if (error === undefined) return undefined;
  return { ...error, data: { ...error.data, trace_id: traceId } };
}

// The class, hint and trace id stand beside the message for readers of
// `error.class`, and in `data` for those who know JSON-RPC's error object.
function toTaskError(failure: TaskFailure | undefined): JsonObject {
  if (failure === undefined) return {};
  const { code, message, data } = failure;
  return { error: { ...data, code, message, data } };
}

function statusMessageOf(task: TaskView): string | undefined {
  if (task.error !== undefined) return task.error.message;
  const { step, total, message } = task.progress ?? {};
  if (task.status !== "running" || step === undefined) return undefined;
  const steps = total === undefined
    ? `Step ${step}`
    : `Step ${step} of ${total}`;
  return message === undefined ? steps : `${steps}: ${message}`;
}

/** Lets a task pass that has a result. @throws {BridgeError} `TASK_CANCELLED`, `TASK_NOT_READY`. */
export function requireResult(task: TaskView): void {
  if (task.status === "cancelled") {
    throw new BridgeError("TASK_CANCELLED", "The task was cancelled");
  }
  if (task.status === "running") {
    throw new BridgeError("TASK_NOT_READY", "The task still runs", {
      retryAfterSeconds: Math.ceil(task.pollIntervalMs / 1000),
    });
  }
}
