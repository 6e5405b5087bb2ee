/**
 * CUO over HTTP, for places without child processes: one JSON-RPC 2.0 request a
 * POST. A run may answer with `application/x-ndjson`: its progress
 * notifications and then its response, one message a line.
 */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { Persona, Route, Workflow } from "../../types.ts";
import { isShredded } from "../common/bounded_body.ts";
import { abortError } from "../common/deadline.ts";
import {
  type Credential,
  type Fetch,
  RestClient,
  type RestRequest,
} from "../common/rest_client.ts";
import { readShape, ShapeError } from "../common/shape.ts";
import {
  type CuoDriver,
  CuoRefusal,
  type DriverCall,
  type DriverRun,
  type WorkflowRun,
} from "./driver.ts";
import { LineSplitter } from "./line_splitter.ts";
import { readPersonas, readRoute, readRun, readWorkflows } from "./results.ts";
import { progressTo, toCuoRefusal } from "./rpc_driver.ts";
import { parseMessage, RpcRefusal } from "./rpc_message.ts";

/** What {@link createHttpDriver} needs. */
export interface HttpDriverOptions {
  /** `CUO_ENDPOINT`. */
  readonly endpoint: string;
  /** The bridge's own credential; never a caller's token. */
  readonly token?: Credential;
  readonly fetch?: Fetch;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

const CUO = "CUO";
const REQUEST_ID = 1;
const NDJSON = "application/x-ndjson";

/** Creates the driver; nothing is sent before the first call. */
export function createHttpDriver(options: HttpDriverOptions): CuoDriver {
  return new HttpDriver(options);
}

class HttpDriver implements CuoDriver {
  readonly protocol = "http";
  readonly #client: RestClient;
  readonly #options: HttpDriverOptions;

  constructor(options: HttpDriverOptions) {
    this.#options = options;
    this.#client = new RestClient({
      names: {
        upstream: CUO,
        endpointSetting: "CUO_ENDPOINT",
        tokenSetting: "CYBEROS_CUO_TOKEN",
      },
      endpoint: options.endpoint,
      ...(options.token === undefined ? {} : { token: options.token }),
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
      maxBytes: options.maxBytes,
      clock: options.clock,
      log: options.log,
    });
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
    const request = {
      ...toRequest("execute_workflow", {
        persona: run.persona,
        workflow: run.workflow,
        inputs: run.inputs,
        task_id: call.taskId,
        trace_id: call.span.context.traceId,
      }),
      headers: { accept: `${NDJSON}, application/json` },
    };
    const response = await this.#client.open(request, call);
    const result = await this.#followRun(response, call);
    return readShape(CUO, () => readRun(result));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #short<T>(
    method: string,
    params: JsonObject,
    call: DriverCall,
    read: (result: JsonValue) => T,
  ): Promise<T> {
    const answer = await this.#client.json(
      { ...toRequest(method, params), repeatable: true },
      { ...call, timeoutMs: this.#options.timeoutMs },
    );
    const result = toResult(method, JSON.stringify(answer));
    if (result === undefined) throw noAnswer();
    return readShape(CUO, () => read(result.value));
  }

  /** Reads messages until the one that answers. Whatever happens, the body is let go. */
  async #followRun(response: Response, call: DriverRun): Promise<JsonValue> {
    const reader = response.body?.getReader();
    if (reader === undefined) throw noAnswer();
    const splitter = new LineSplitter(this.#options.maxBytes);
    const onNotification = progressTo(call);
    let bytes = 0;
    try {
      for (let pieces = 1;; pieces++) {
        const { done, value } = await reader.read();
        bytes += value?.length ?? 0;
        if (isShredded(pieces, bytes)) throw noAnswer();
        const lines = done ? splitter.end() : splitter.push(value);
        for (const line of lines) {
          if ("fault" in line) throw noAnswer();
          const result = toResult("execute_workflow", line.text);
          if (result !== undefined) return result.value;
          const message = parseMessage(line.text);
          if (message?.kind === "notification") {
            onNotification(message.method, message.params);
          }
        }
        if (done) throw noAnswer();
      }
    } catch (error) {
      if (call.signal.aborted) throw abortError(call.signal, CUO);
      const known = error instanceof BridgeError || error instanceof CuoRefusal;
      throw known ? error : noAnswer(error);
    } finally {
      reader.cancel().catch(() => {});
    }
  }
}

function toRequest(method: string, params: JsonObject): RestRequest {
  return {
    method: "POST",
    path: "",
    template: "/",
    body: { jsonrpc: "2.0", id: REQUEST_ID, method, params },
  };
}

/** The result in a response to our request. @throws {CuoRefusal} It is an error. */
function toResult(
  method: string,
  text: string,
): { readonly value: JsonValue } | undefined {
  const message = parseMessage(text);
  if (message === undefined || message.kind === "notification") {
    return undefined;
  }
  if (message.id !== REQUEST_ID) return undefined;
  if (message.kind === "error") {
    throw toCuoRefusal(new RpcRefusal(method, message.code));
  }
  return { value: message.result };
}

function noAnswer(cause?: unknown): BridgeError {
  return new BridgeError(
    "UPSTREAM_UNAVAILABLE",
    "CUO ended its answer without a result",
    {
      cause: cause ?? new ShapeError("answer", "a JSON-RPC response"),
      hint:
        "Call again. If it stays so, the operator must check that CUO_ENDPOINT names a CUO that speaks JSON-RPC.",
    },
  );
}
