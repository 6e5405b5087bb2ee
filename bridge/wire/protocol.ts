/**
 * The MCP server: decoded messages in, answers out. One for every transport.
 *
 * Source: MCP 2025-11-25; JSON-RPC 2.0; TASK-PLUGIN-002 §1.
 */
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { cyberosTools } from "../calls/cyberos_tools.ts";
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
import { classify, isObject, type RequestId } from "./json_rpc.ts";
import { logRefusal } from "./log_refusal.ts";
import { quote } from "./params.ts";
import type { InFlight } from "./session.ts";
import { type ShortMethod, shortMethods } from "./short_methods.ts";
import {
  admitTasksMethod,
  TASKS_METHODS,
  type TasksMethodDeps,
} from "./tasks_call.ts";
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
   * Judges a message and answers what can be answered at once. Never throws or
   * rejects. A `call` of the outcome must be run. Short methods and faults of
   * form are answered without a promise, so that their answers keep the order of
   * their requests; on stdio a longer request is on the books of its session
   * before this returns.
   */
  admit(message: JsonValue, exchange: Exchange): Admission | Promise<Admission>;
  /** Both phases in one: for a transport whose answers all travel the same way. */
  handle(
    message: JsonValue,
    exchange: Exchange,
  ): Answer | undefined | Promise<Answer | undefined>;
}

/** Makes the server. Nothing is loaded or connected before a request needs it. */
export function createProtocol(deps: ProtocolDeps): Protocol {
  const server = new Server(deps);
  return {
    admit: (message, exchange) => server.admit(message, exchange),
    handle: (message, exchange) => {
      const admission = server.admit(message, exchange);
      return admission instanceof Promise
        ? admission.then(answerOf)
        : answerOf(admission);
    },
  };
}

function answerOf(
  admission: Admission,
): Answer | undefined | Promise<Answer | undefined> {
  switch (admission.kind) {
    case "none":
      return undefined;
    case "answer":
      return admission.answer;
    case "call":
      return admission.run();
  }
}

interface Request {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
}

const NONE: Admission = { kind: "none" };

// What a client may ask before it has said hello.
const BEFORE_INITIALIZE: ReadonlySet<string> = new Set(["initialize", "ping"]);

class Server {
  readonly #deps: ProtocolDeps;
  readonly #callDeps: ToolsCallDeps;
  readonly #tasksDeps: TasksMethodDeps;
  readonly #short: ReadonlyMap<string, ShortMethod>;
  readonly #tools: ToolSet;
  #encodedListing: string | undefined;

  constructor(deps: ProtocolDeps) {
    const { options = {} } = deps;
    this.#deps = deps;
    this.#tools = deps.tools ?? cyberosTools({
      ...deps,
      maxAnswerChars: options.maxAnswerChars ?? 60_000,
    });
    this.#callDeps = {
      ...deps,
      tools: this.#tools,
      callTimeoutMs: options.callTimeoutMs ?? 30_000,
      confirmTimeoutMs: options.confirmTimeoutMs ?? 300_000,
    };
    this.#tasksDeps = {
      ...deps,
      tools: this.#tools,
      resultTimeoutMs: options.resultTimeoutMs ?? 50_000,
    };
    this.#short = shortMethods({
      version: deps.version,
      protocolStrict: options.protocolStrict ?? false,
      tools: this.#tools,
    });
  }

  admit(
    message: JsonValue,
    exchange: Exchange,
  ): Admission | Promise<Admission> {
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
        return this.#admitRequest(incoming, exchange);
    }
  }

  #admitRequest(
    request: Request,
    exchange: Exchange,
  ): Admission | Promise<Admission> {
    const { id, params } = request;
    const traceparent = traceparentOf(params, exchange);
    try {
      this.#requireKnown(request, exchange);
      const short = this.#short.get(request.method);
      if (short === undefined) {
        const inFlight = exchange.session?.begin(id);
        return this.#admitLong(request, exchange, { inFlight, traceparent });
      }
      exchange.session?.requireFree(id);
      const result = short(params, exchange);
      return { kind: "answer", answer: this.#answer(id, result, traceparent) };
    } catch (error) {
      return this.#refuse(error, id, traceparent);
    }
  }

  #requireKnown({ method }: Request, { session }: Exchange): void {
    const known = this.#short.has(method) || method === "tools/call" ||
      TASKS_METHODS.has(method);
    if (!known) {
      throw new BridgeError("METHOD_UNKNOWN", `Unknown method${quote(method)}`);
    }
    if (
      session !== undefined && !session.initialized &&
      !BEFORE_INITIALIZE.has(method)
    ) {
      throw new BridgeError(
        "NOT_INITIALIZED",
        "The session is not initialized yet",
      );
    }
  }

  async #admitLong(
    request: Request,
    exchange: Exchange,
    call: {
      readonly inFlight: InFlight | undefined;
      readonly traceparent: string | undefined;
    },
  ): Promise<Admission> {
    const { inFlight, traceparent } = call;
    const signal = inFlight?.signal ?? exchange.signal;
    const admission = request.method === "tools/call"
      ? await admitToolCall(this.#callDeps, {
        ...request,
        exchange,
        signal,
        traceparent,
      })
      : await admitTasksMethod(this.#tasksDeps, {
        ...request,
        exchange,
        signal,
        traceId: traceIdOf(traceparent),
      });
    return onTheBooks(admission, inFlight);
  }

  #answer(
    id: RequestId,
    result: JsonObject,
    traceparent: string | undefined,
  ): Answer {
    const traceId = traceIdOf(traceparent);
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
    const traceId = traceIdOf(traceparent);
    logRefusal(this.#deps.log, error, traceId);
    return { kind: "answer", answer: errorAnswer(error, { id, traceId }) };
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

/** Takes a request off its session's books with its answer, and keeps the answer of a cancelled one back. */
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

function traceparentOf(
  params: JsonObject,
  exchange: Exchange,
): string | undefined {
  if (exchange.traceparent !== undefined) return exchange.traceparent;
  const meta = params["_meta"];
  const traceparent = isObject(meta) ? meta["traceparent"] : undefined;
  return typeof traceparent === "string" ? traceparent : undefined;
}
