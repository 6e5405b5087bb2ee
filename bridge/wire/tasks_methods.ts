/**
 * `tasks/get`, `tasks/result`, `tasks/list`, `tasks/cancel`.
 *
 * `taskId` speaks MCP's dialect, `id` the specification's; both name the same
 * tasks. Tasks of other tenants and subjects are not found, in the same words as
 * tasks that never were. Who may not call a tool may neither read nor end its
 * tasks: a token of fewer scopes is another context of the same subject.
 *
 * Source: MCP 2025-11-25, basic/utilities/tasks; TASK-PLUGIN-002 §1 clause 5;
 * PRODUCT decision D6.
 */
import type { JsonObject } from "../../schema/json.ts";
import { authorize } from "../calls/authorize.ts";
import type { ToolSet } from "../calls/tool_set.ts";
import { BridgeError } from "../errors.ts";
import type { TaskRunner } from "../ports.ts";
import type { Principal, TaskView } from "../types.ts";
import { JsonRpcFailure } from "./json_rpc_failure.ts";
import { optionalObject, paramsInvalid, progressTokenOf } from "./params.ts";
import { ProgressReporter, relatedTask } from "./reports.ts";
import type { Exchange } from "./exchange.ts";
import {
  failureOf,
  requireResult,
  toMcpTask,
  toTaskState,
} from "./task_results.ts";
import { toStateResult } from "./tool_results.ts";

/** One `tasks/*` request of a known caller. */
export interface TasksRequest {
  readonly runner: TaskRunner;
  readonly tools: ToolSet;
  readonly principal: Principal;
  readonly params: JsonObject;
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
  /** How long `tasks/result` holds out for a task that still runs. */
  readonly resultTimeoutMs: number;
}

// No id of ours is longer; the store need not see what cannot be one.
const MAX_TASK_ID_LENGTH = 128;

/** `tasks/get`. @throws {BridgeError} `TASK_NOT_FOUND`, `SCOPE_MISSING`, `STORE_UNAVAILABLE`. */
export async function getTask(request: TasksRequest): Promise<JsonObject> {
  const { id, encode } = taskIdOf(request.params);
  return encode(await find(request, id));
}

/** `tasks/cancel`. @throws {BridgeError} `TASK_FINISHED`, `TASK_NOT_FOUND`, `SCOPE_MISSING`, `STORE_UNAVAILABLE`. */
export async function cancelTask(request: TasksRequest): Promise<JsonObject> {
  const { id, encode } = taskIdOf(request.params);
  await find(request, id);
  return encode(await request.runner.cancel(request.principal, id));
}

async function find(request: TasksRequest, id: string): Promise<TaskView> {
  const task = await request.runner.get(request.principal, id);
  const tool = request.tools.find(task.tool);
  if (tool !== undefined) authorize(tool, request.principal);
  return task;
}

function mayCall(request: TasksRequest, { tool }: TaskView): boolean {
  const scopes = request.tools.find(tool)?.scopes ?? [];
  return scopes.every((scope) => request.principal.scopes.has(scope));
}

/** `tasks/list`, newest first. @throws {BridgeError} `STORE_UNAVAILABLE`, `PARAMS_INVALID` for a cursor that is not ours. */
export async function listTasks(request: TasksRequest): Promise<JsonObject> {
  const { cursor } = request.params;
  if (cursor !== undefined && typeof cursor !== "string") {
    throw paramsInvalid("/cursor", "a string");
  }
  const { tasks, nextCursor } = await request.runner.list(
    request.principal,
    cursor === undefined ? {} : { cursor },
  );
  return {
    tasks: tasks.filter((task) => mayCall(request, task)).map(toMcpTask),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
}

/**
 * `tasks/result`: waits for the task to end and answers what the run came to. A
 * run that failed is answered with the very error it failed with.
 *
 * @throws {BridgeError} `TASK_NOT_READY` when the wait is over first, `SCOPE_MISSING`.
 * @throws {JsonRpcFailure} What the task failed with.
 */
export async function taskResult(request: TasksRequest): Promise<JsonObject> {
  const { id } = taskIdOf(request.params);
  const meta = optionalObject(request.params, "_meta");
  const progress = new ProgressReporter(
    request.exchange,
    progressTokenOf(meta),
  );
  progress.attach(id);
  try {
    await find(request, id);
    const task = await request.runner.wait(request.principal, id, {
      timeoutMs: request.resultTimeoutMs,
      signal: request.signal,
      onProgress: (report) => progress.report(report),
    });
    const failure = failureOf(task);
    if (failure !== undefined) throw new JsonRpcFailure(failure);
    requireResult(task);
    return { ...toStateResult(task), _meta: relatedTask(task.taskId) };
  } finally {
    progress.end();
  }
}

function taskIdOf(
  params: JsonObject,
): { id: string; encode: (task: TaskView) => JsonObject } {
  const { id, taskId } = params;
  if (taskId !== undefined) {
    if (id !== undefined && id !== taskId) {
      throw paramsInvalid("/id", "absent, or the same as taskId");
    }
    return { id: usable(taskId, "/taskId"), encode: toMcpTask };
  }
  return { id: usable(id, "/id"), encode: toTaskState };
}

function usable(value: unknown, pointer: string): string {
  if (typeof value !== "string") throw paramsInvalid(pointer, "a task id");
  if (
    value === "" || value.length > MAX_TASK_ID_LENGTH ||
    !value.isWellFormed() || value.includes("\0")
  ) throw new BridgeError("TASK_NOT_FOUND", "Task not found");
  return value;
}
