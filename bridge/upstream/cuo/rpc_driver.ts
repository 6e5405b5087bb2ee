/** CUO over `cyberos-cuo rpc`. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import type { Persona, Route, Workflow } from "../../types.ts";
import { readShape } from "../common/shape.ts";
import {
  type CuoDriver,
  CuoRefusal,
  type DriverCall,
  type DriverRun,
  type WorkflowRun,
} from "./driver.ts";
import {
  readPersonas,
  readProgress,
  readRoute,
  readRun,
  readWorkflows,
} from "./results.ts";
import { ChildGone, type RpcChild } from "./rpc_child.ts";
import { RpcRefusal } from "./rpc_message.ts";
import { SharedRpc, type SharedRpcTimes } from "./shared_rpc.ts";
import type { Launcher } from "./launcher.ts";

/** Shown to callers. */
export const CUO = "CUO";

const FINISH_MS = 1_000;
const MAX_PROGRESS = 10_000;

/** Creates the driver; nothing is started before the first call. */
export function createRpcDriver(
  launcher: Launcher,
  times: SharedRpcTimes,
): CuoDriver & { adopt(child: RpcChild): void } {
  return new RpcDriver(launcher, times);
}

class RpcDriver implements CuoDriver {
  readonly protocol = "jsonrpc";
  readonly #launcher: Launcher;
  readonly #shared: SharedRpc;
  readonly #runs = new Set<RpcChild>();

  constructor(launcher: Launcher, times: SharedRpcTimes) {
    this.#launcher = launcher;
    this.#shared = new SharedRpc({
      start: () => launcher.startRpc({}),
      times,
    });
  }

  adopt(child: RpcChild): void {
    this.#shared.adopt(child);
  }

  async listPersonas(call: DriverCall): Promise<readonly Persona[]> {
    return await this.#short("list_personas", {}, call, readPersonas);
  }

  async listWorkflows(
    persona: string,
    call: DriverCall,
  ): Promise<readonly Workflow[]> {
    return await this.#short(
      "list_workflows",
      { persona },
      call,
      readWorkflows,
    );
  }

  async route(query: string, call: DriverCall): Promise<Route> {
    return await this.#short("route", { query }, call, readRoute);
  }

  async execute(run: WorkflowRun, call: DriverRun): Promise<JsonObject> {
    const traceId = call.span.context.traceId;
    const child = await this.#launcher.startRpc({
      logFields: { trace_id: traceId, task_id: call.taskId },
      onNotification: progressTo(call),
    });
    this.#runs.add(child);
    try {
      const result = await child.request("execute_workflow", {
        persona: run.persona,
        workflow: run.workflow,
        inputs: run.inputs,
        task_id: call.taskId,
        trace_id: traceId,
      }, { signal: call.signal, traceId });
      await child.finish(FINISH_MS);
      return readShape(CUO, () => readRun(result));
    } catch (error) {
      // Cancelled or failed: nothing that it started may live on.
      await child.stop();
      throw translate(error);
    } finally {
      this.#runs.delete(child);
    }
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#shared.close(),
      ...[...this.#runs].map((child) => child.stop()),
    ]);
  }

  async #short<T>(
    method: string,
    params: JsonObject,
    call: DriverCall,
    read: (result: JsonValue) => T,
  ): Promise<T> {
    try {
      const result = await this.#shared.request(method, params, {
        signal: call.signal,
        traceId: call.span.context.traceId,
      });
      return readShape(CUO, () => read(result));
    } catch (error) {
      throw translate(error);
    }
  }
}

/** Passes steps on, each once: progress only ever grows. */
export function progressTo(
  call: Pick<DriverRun, "onProgress">,
): (method: string, params: JsonObject) => boolean {
  let last = 0;
  let count = 0;
  return (method, params) => {
    const progress = method === "progress" ? readProgress(params) : undefined;
    if (progress === undefined || ++count > MAX_PROGRESS) return false;
    if (progress.step > last) {
      last = progress.step;
      call.onProgress(progress);
    }
    return true;
  };
}

const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;

/** What the protocol's own errors mean; everything else stays as it is. */
export function translate(error: unknown): unknown {
  if (error instanceof RpcRefusal) return toCuoRefusal(error);
  if (!(error instanceof ChildGone)) return error;
  return new BridgeError("UPSTREAM_UNAVAILABLE", `CUO ${error.reason}`, {
    cause: error,
    hint:
      "Call again: a fresh CUO is started for it. If it stays so, the operator must look at cyberos-cuo's messages in the bridge's log.",
  });
}

/** A JSON-RPC error, by its code alone. */
export function toCuoRefusal(error: RpcRefusal): CuoRefusal {
  const kind = error.code === INVALID_PARAMS
    ? "invalid"
    : error.code === METHOD_NOT_FOUND
    ? "unknown method"
    : "failed";
  return new CuoRefusal(kind, `code ${error.code}`);
}
