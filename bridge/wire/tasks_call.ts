/** A `tasks/*` request from token to answer. */
import type { JsonObject } from "../../schema/json.ts";
import type { ToolSet } from "../calls/tool_set.ts";
import { BridgeError } from "../errors.ts";
import type { Logger, TaskRunner } from "../ports.ts";
import type { Principal } from "../types.ts";
import type { Admission, Answer } from "./admission.ts";
import { errorAnswer } from "./encode_error.ts";
import type { Exchange } from "./exchange.ts";
import { JsonRpcFailure } from "./json_rpc_failure.ts";
import { isObject, type RequestId } from "./json_rpc.ts";
import { logRefusal } from "./log_refusal.ts";
import { progressTokenOf } from "./params.ts";
import {
  cancelTask,
  getTask,
  listTasks,
  taskResult,
  type TasksRequest,
} from "./tasks_methods.ts";

/** What `tasks/*` stand on. */
export interface TasksMethodDeps {
  readonly tasks: () => Promise<TaskRunner>;
  readonly tools: ToolSet;
  readonly log: Logger;
  readonly resultTimeoutMs: number;
  readonly enter?: (principal: Principal) => () => void;
}

/** One request. */
export interface TasksMethodCall {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
  readonly traceId: string;
}

type TasksMethod = (request: TasksRequest) => Promise<JsonObject>;

/** The methods by name. */
export const TASKS_METHODS: ReadonlyMap<string, TasksMethod> = new Map([
  ["tasks/get", getTask],
  ["tasks/result", taskResult],
  ["tasks/list", listTasks],
  ["tasks/cancel", cancelTask],
]);

/** Judges the caller: a refusal, or what runs the method. Never rejects. */
export async function admitTasksMethod(
  deps: TasksMethodDeps,
  call: TasksMethodCall,
): Promise<Admission> {
  try {
    const principal = await call.exchange.authenticate();
    const release = deps.enter?.(principal);
    const meta = call.params["_meta"];
    return {
      kind: "call",
      wantsProgress: isObject(meta) && progressTokenOf(meta) !== undefined,
      run: () => run(deps, call, { principal, release }),
    };
  } catch (error) {
    return { kind: "answer", answer: refuse(deps, call, error) };
  }
}

async function run(
  deps: TasksMethodDeps,
  call: TasksMethodCall,
  admitted: { principal: Principal; release: (() => void) | undefined },
): Promise<Answer | undefined> {
  const { id, params, exchange, signal, traceId } = call;
  try {
    signal.throwIfAborted();
    const method = TASKS_METHODS.get(call.method) as TasksMethod;
    const result = await method({
      runner: await deps.tasks(),
      tools: deps.tools,
      principal: admitted.principal,
      params,
      exchange,
      signal,
      resultTimeoutMs: deps.resultTimeoutMs,
    });
    return { response: { jsonrpc: "2.0", id, result }, traceId };
  } catch (error) {
    if (!signal.aborted) return refuse(deps, call, error);
    const { reason } = signal;
    return reason instanceof BridgeError
      ? refuse(deps, call, reason)
      : undefined;
  } finally {
    admitted.release?.();
  }
}

function refuse(
  deps: TasksMethodDeps,
  { id, traceId }: TasksMethodCall,
  error: unknown,
): Answer {
  if (error instanceof JsonRpcFailure) {
    const { failure } = error;
    const response = { jsonrpc: "2.0", id, error: { ...failure } } as const;
    return { response, traceId };
  }
  logRefusal(deps.log, error, traceId);
  return errorAnswer(error, { id, traceId });
}
