/**
 * The MCP server: decoded messages in, answers out. One for every transport.
 *
 * Source: MCP 2025-11-25; JSON-RPC 2.0; TASK-PLUGIN-002 §1.
 */
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { cyberosTools } from "../calls/cyberos_tools.ts";
import { isLogLevel, LOG_LEVELS } from "../calls/log_level.ts";
import type { ToolSet } from "../calls/tool_set.ts";
import { BridgeError } from "../errors.ts";
import type {
  Clock,
  Confirmations,
  Logger,
  TaskRunner,
  Telemetry,
  Upstreams,
} from "../ports.ts";
import type { Principal } from "../types.ts";
import type { Admission, Answer } from "./admission.ts";
import { errorAnswer } from "./encode_error.ts";
import type { Exchange } from "./exchange.ts";
import { clientCapabilities, initialize } from "./initialize.ts";
import { JsonRpcFailure } from "./json_rpc_failure.ts";
import { classify, isObject, type RequestId } from "./json_rpc.ts";
import { logRefusal } from "./log_refusal.ts";
import { paramsInvalid, quote } from "./params.ts";
import type { InFlight } from "./session.ts";
import {
  cancelTask,
  getTask,
  listTasks,
  taskResult,
  type TasksRequest,
} from "./tasks_methods.ts";
import { admitToolCall, type ToolsCallDeps } from "./tools_call.ts";
import { traceIdOf } from "./trace_id.ts";

/** What the protocol stands on. The getters are called at the first request that needs them, and may be called again. */
export interface ProtocolDeps {
  readonly upstreams: () => Promise<Upstreams>;
  readonly tasks: () => Promise<TaskRunner>;
  /** Absent where nobody issues confirmation tokens. */
  readonly confirmations?: () => Promise<Confirmations>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pluginId: string;
  readonly version: string;
  readonly options?: ProtocolOptions;
  /** Other tools than the eight, for a server built on this stack. */
  readonly tools?: ToolSet;
  /** See {@link ToolsCallDeps.enter}. */
  readonly enter?: (principal: Principal) => () => void;
}

/** Limits and switches; times in milliseconds. */
export interface ProtocolOptions {
  /** Refuse every revision but ours in `initialize`. Default false. */
  readonly protocolStrict?: boolean;
  /** Default 30 s; a Task tool's inline wait comes on top. */
  readonly callTimeoutMs?: number;
  /** How long a person may take to answer our question. Default 5 minutes. */
  readonly confirmTimeoutMs?: number;
  /** How long `tasks/result` waits for a running task. Default 50 s. */
  readonly resultTimeoutMs?: number;
  /** What the rows or skills of one answer may take as JSON. Default 60,000 characters. */
  readonly maxAnswerChars?: number;
}

/** The server behind a transport. */
export interface Protocol {
  /**
   * Judges a message and answers what can be answered at once. Never rejects.
   * A `call` of the outcome must be run. On stdio the request is on the books of
   * its session before this function returns its promise.
   */
  admit(message: JsonValue, exchange: Exchange): Promise<Admission>;
  /** Both phases in one: for a transport whose answers all travel the same way. */
  handle(
    message: JsonValue,
    exchange: Exchange,
  ): Promise<Answer | undefined>;
}

/** Makes the server. Nothing is loaded or connected before a request needs it. */
export function createProtocol(deps: ProtocolDeps): Protocol {
  const server = new Server(deps);
  return {
    admit: (message, exchange) => server.admit(message, exchange),
    handle: async (message, exchange) => {
      const admission = await server.admit(message, exchange);
      switch (admission.kind) {
        case "none":
          return undefined;
        case "answer":
          return admission.answer;
        case "call":
          return await admission.run();
      }
    },
  };
}

interface Request {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
}

type ShortMethod = (params: JsonObject, exchange: Exchange) => JsonObject;
type TasksMethod = (request: TasksRequest) => Promise<JsonObject>;

const NONE: Admission = { kind: "none" };

// What a client may ask before it has said hello.
const BEFORE_INITIALIZE: ReadonlySet<string> = new Set(["initialize", "ping"]);

const TASKS_METHODS: ReadonlyMap<string, TasksMethod> = new Map([
  ["tasks/get", getTask],
  ["tasks/result", taskResult],
  ["tasks/list", listTasks],
  ["tasks/cancel", cancelTask],
]);

class Server {
  readonly #deps: ProtocolDeps;
  readonly #callDeps: ToolsCallDeps;
  readonly #short: ReadonlyMap<string, ShortMethod>;
  readonly #tools: ToolSet;
  #encodedListing: string | undefined;

  constructor(deps: ProtocolDeps) {
    this.#deps = deps;
    const { options = {} } = deps;
    const tools = deps.tools ?? cyberosTools({
      ...deps,
      maxAnswerChars: options.maxAnswerChars ?? 60_000,
    });
    this.#callDeps = {
      ...deps,
      tools,
      callTimeoutMs: options.callTimeoutMs ?? 30_000,
      confirmTimeoutMs: options.confirmTimeoutMs ?? 300_000,
    };
    this.#short = new Map<string, ShortMethod>([
      ["initialize", (params, exchange) => this.#initialize(params, exchange)],
      ["ping", () => ({})],
      ["logging/setLevel", setLevel],
      ["tools/list", (params) => listTools(params, tools)],
    ]);
    this.#tools = tools;
  }

  async admit(message: JsonValue, exchange: Exchange): Promise<Admission> {
    const incoming = classify(message);
    switch (incoming.kind) {
      case "response":
        exchange.session?.settle(incoming);
        return NONE;
      case "notification":
        notified(incoming, exchange);
        return NONE;
      case "invalid":
        return this.#refuse(incoming.error, incoming.id, exchange.traceparent);
      case "request":
        return await this.#admitRequest(incoming, exchange);
    }
  }

  async #admitRequest(
    request: Request,
    exchange: Exchange,
  ): Promise<Admission> {
    const traceparent = traceparentOf(request.params, exchange);
    let inFlight: InFlight | undefined;
    try {
      this.#requireKnown(request, exchange);
      inFlight = exchange.session?.begin(request.id);
      const admission = await this.#dispatch(request, exchange, {
        signal: inFlight?.signal ?? exchange.signal,
        traceparent,
      });
      return onTheBooks(admission, inFlight);
    } catch (error) {
      inFlight?.end();
      return this.#refuse(error, request.id, traceparent);
    }
  }

  #requireKnown({ method }: Request, exchange: Exchange): void {
    const known = this.#short.has(method) || method === "tools/call" ||
      TASKS_METHODS.has(method);
    if (!known) {
      throw new BridgeError("METHOD_UNKNOWN", `Unknown method${quote(method)}`);
    }
    const { session } = exchange;
    if (
      session !== undefined && !session.initialized &&
      !BEFORE_INITIALIZE.has(method)
    ) {
      throw new BridgeError(
        "NOT_INITIALIZED",
        `The session is not initialized yet`,
      );
    }
  }

  async #dispatch(
    { id, method, params }: Request,
    exchange: Exchange,
    call: { signal: AbortSignal; traceparent: string | undefined },
  ): Promise<Admission> {
    if (method === "tools/call") {
      return await admitToolCall(this.#callDeps, {
        id,
        params,
        exchange,
        ...call,
      });
    }
    const traceId = traceIdOf(call.traceparent);
    const short = this.#short.get(method);
    if (short !== undefined) {
      const result = short(params, exchange);
      return { kind: "answer", answer: this.#answer(id, result, traceId) };
    }
    const principal = await exchange.authenticate();
    const release = this.#deps.enter?.(principal);
    return {
      kind: "call",
      wantsProgress: isObject(params["_meta"]) &&
        params["_meta"]["progressToken"] !== undefined,
      run: async () => {
        try {
          const result = await this.#runTasksMethod(method, {
            principal,
            params,
            exchange,
            signal: call.signal,
          });
          return { response: { jsonrpc: "2.0", id, result }, traceId };
        } catch (error) {
          if (isGone(call.signal)) return undefined;
          return this.#refusal(error, id, traceId);
        } finally {
          release?.();
        }
      },
    };
  }

  async #runTasksMethod(
    method: string,
    request: Omit<TasksRequest, "runner" | "resultTimeoutMs">,
  ): Promise<JsonObject> {
    const handler = TASKS_METHODS.get(method) as TasksMethod;
    return await handler({
      ...request,
      runner: await this.#deps.tasks(),
      resultTimeoutMs: this.#deps.options?.resultTimeoutMs ?? 50_000,
    });
  }

  #initialize(params: JsonObject, { session }: Exchange): JsonObject {
    if (session?.initialized) {
      throw new BridgeError(
        "INVALID_REQUEST",
        "The session is initialized already",
        { hint: "Open a new connection to start over." },
      );
    }
    const result = initialize(params, {
      version: this.#deps.version,
      protocolStrict: this.#deps.options?.protocolStrict ?? false,
    });
    if (session !== undefined) {
      session.initialized = true;
      session.clientCapabilities = clientCapabilities(params);
    }
    return result;
  }

  #answer(id: RequestId, result: JsonObject, traceId: string): Answer {
    const response = { jsonrpc: "2.0", id, result } as const;
    if (result !== this.#tools.listing) return { response, traceId };
    // The list is the largest answer and never changes: it is encoded once.
    this.#encodedListing ??= JSON.stringify(result);
    const encoded = `{"jsonrpc":"2.0","id":${
      JSON.stringify(id)
    },"result":${this.#encodedListing}}`;
    return { response, encoded, traceId };
  }

  #refuse(
    error: unknown,
    id: RequestId | null,
    traceparent: string | undefined,
  ): Admission {
    const answer = this.#refusal(error, id, traceIdOf(traceparent));
    return { kind: "answer", answer };
  }

  #refusal(error: unknown, id: RequestId | null, traceId: string): Answer {
    if (error instanceof JsonRpcFailure) {
      const { failure } = error;
      return {
        response: { jsonrpc: "2.0", id, error: { ...failure } },
        traceId,
      };
    }
    logRefusal(this.#deps.log, error, traceId);
    return errorAnswer(error, { id, traceId });
  }
}

function notified(
  notification: { readonly method: string; readonly params: JsonObject },
  exchange: Exchange,
): void {
  if (notification.method === "notifications/cancelled") {
    exchange.session?.cancel(notification.params["requestId"]);
  }
}

function onTheBooks(
  admission: Admission,
  inFlight: InFlight | undefined,
): Admission {
  if (inFlight === undefined) return admission;
  if (admission.kind !== "call") {
    inFlight.end();
    return inFlight.cancelled ? NONE : admission;
  }
  return {
    ...admission,
    run: async () => {
      try {
        const answer = await admission.run();
        return inFlight.cancelled ? undefined : answer;
      } finally {
        inFlight.end();
      }
    },
  };
}

/** Whether nobody waits for the answer: cancelled, or the connection is gone. */
function isGone(signal: AbortSignal): boolean {
  return signal.aborted && !(signal.reason instanceof BridgeError);
}

function traceparentOf(
  params: JsonObject,
  exchange: Exchange,
): string | undefined {
  if (exchange.traceparent !== undefined) return exchange.traceparent;
  const meta = params["_meta"];
  const traceparent = isObject(meta) ? meta["traceparent"] : undefined;
  return typeof traceparent === "string" ? traceparent : undefined;
}

function setLevel(params: JsonObject, { session }: Exchange): JsonObject {
  const { level } = params;
  if (!isLogLevel(level)) {
    throw paramsInvalid("/level", `one of ${LOG_LEVELS.join(", ")}`);
  }
  if (session !== undefined) session.logLevel = level;
  return {};
}

function listTools(params: JsonObject, tools: ToolSet): JsonObject {
  if (params["cursor"] !== undefined) {
    throw paramsInvalid("/cursor", "absent, as there is one page");
  }
  return tools.listing;
}
