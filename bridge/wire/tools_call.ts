/**
 * `tools/call`: decode, authorize, validate; then confirm, run, encode.
 *
 * The order of refusals is fixed and the same on both transports: shape of the
 * request, unknown tool, task support, token, scopes, tenant, arguments, places
 * among the running calls, confirmation, upstream. So a caller without the scope
 * learns nothing about its arguments, nothing is asked of a person before the
 * call could run, and everything that HTTP answers with a status of its own is
 * known before a stream starts.
 */
import type { JsonObject } from "../../schema/json.ts";
import { authorize } from "../calls/authorize.ts";
import { errorClassOf } from "../calls/failure.ts";
import type { LogLevel } from "../calls/log_level.ts";
import { confirm, type Confirmed, type Evidence } from "../calls/confirm.ts";
import { refuseOtherTenants } from "../calls/tenant.ts";
import type { Tool, ToolAnswer, ToolSet } from "../calls/tool_set.ts";
import { BridgeError, type ErrorClass } from "../errors.ts";
import type {
  Clock,
  Confirmations,
  Logger,
  TaskRunner,
  Telemetry,
} from "../ports.ts";
import type { Principal } from "../types.ts";
import type { Admission, Answer } from "./admission.ts";
import { type CallSpan, openCallSpan } from "./call_span.ts";
import { startDeadline, untilAborted } from "./deadline.ts";
import { decodeToolCall, type ToolCall } from "./decode_tool_call.ts";
import { elicitConfirmation } from "./elicit.ts";
import { errorAnswer } from "./encode_error.ts";
import type { Exchange } from "./exchange.ts";
import { followTask } from "./follow_task.ts";
import { isObject, type RequestId } from "./json_rpc.ts";
import { progressTokenOf, quote } from "./params.ts";
import { logRefusal } from "./log_refusal.ts";
import { logSenders, ProgressReporter } from "./reports.ts";
import { toCallResult } from "./tool_results.ts";

/** What `tools/call` stands on. */
export interface ToolsCallDeps {
  readonly tools: ToolSet;
  readonly tasks: () => Promise<TaskRunner>;
  readonly confirmations?: () => Promise<Confirmations>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pluginId: string;
  /** How long a call may take, in milliseconds; a Task tool's inline wait comes on top. */
  readonly callTimeoutMs: number;
  /** How long a person may take to answer our question. */
  readonly confirmTimeoutMs: number;
  /**
   * Takes a place among the calls that run at once and gives its release.
   *
   * @throws {BridgeError} `BUSY`, `RATE_LIMITED`.
   */
  readonly enter?: (principal: Principal) => () => void;
}

/** One `tools/call` request. */
export interface ToolsCallRequest {
  readonly id: RequestId;
  readonly params: JsonObject;
  readonly exchange: Exchange;
  /** Aborts when the client cancels or the connection ends. */
  readonly signal: AbortSignal;
  readonly traceparent: string | undefined;
}

interface AdmittedCall {
  readonly tool: Tool;
  readonly call: ToolCall;
  readonly principal: Principal;
  readonly release: () => void;
}

/** Judges a call: a refusal, or what runs it. Never rejects. */
export async function admitToolCall(
  deps: ToolsCallDeps,
  request: ToolsCallRequest,
): Promise<Admission> {
  const { name } = request.params;
  const tool = typeof name === "string" ? deps.tools.find(name) : undefined;
  const span = openCallSpan(deps, {
    tool: tool?.name,
    traceparent: request.traceparent,
    transport: request.exchange.transport,
  });
  try {
    const admitted = await admit(deps, request, { tool, span });
    return {
      kind: "call",
      wantsProgress: progressTokenOf(admitted.call.meta) !== undefined,
      run: () => answerCall(deps, request, { admitted, span }),
    };
  } catch (error) {
    return { kind: "answer", answer: refuse(deps, request, { span, error }) };
  }
}

async function admit(
  deps: ToolsCallDeps,
  request: ToolsCallRequest,
  { tool, span }: { tool: Tool | undefined; span: CallSpan },
): Promise<AdmittedCall> {
  const call = decodeToolCall(request.params);
  if (tool === undefined) {
    throw new BridgeError("TOOL_UNKNOWN", `Unknown tool${quote(call.name)}`);
  }
  if (call.task !== undefined && !tool.longRunning) {
    throw new BridgeError(
      "TASK_UNSUPPORTED",
      `Tool '${tool.name}' does not run as a task`,
      { data: { reason: "task_forbidden" } },
    );
  }
  const principal = await request.exchange.authenticate();
  span.span.set({ "cyberos.tenant_id": principal.tenantId });
  authorize(tool, principal);
  refuseOtherTenants(principal, call.arguments, call.meta);
  await requireValid(tool, call.arguments);
  return { tool, call, principal, release: enter(deps, principal) };
}

async function requireValid(tool: Tool, args: JsonObject): Promise<void> {
  const issues = await tool.validate(args);
  const [first] = issues;
  if (first === undefined) return;
  const rest = issues.length === 1 ? "" : ` (and ${issues.length - 1} more)`;
  throw new BridgeError(
    "ARGUMENTS_INVALID",
    `Invalid ${first.json_pointer}: ${first.message}${rest}`,
    { data: { errors: issues.map((issue) => ({ ...issue })) } },
  );
}

function enter(deps: ToolsCallDeps, principal: Principal): () => void {
  return deps.enter?.(principal) ?? (() => {});
}

async function answerCall(
  deps: ToolsCallDeps,
  request: ToolsCallRequest,
  { admitted, span }: { admitted: AdmittedCall; span: CallSpan },
): Promise<Answer | undefined> {
  const { exchange, signal } = request;
  const progress = new ProgressReporter(
    exchange,
    progressTokenOf(admitted.call.meta),
  );
  try {
    const answer = await run(deps, request, { admitted, span, progress });
    const response = {
      jsonrpc: "2.0",
      id: request.id,
      result: toCallResult(answer),
    } as const;
    const { traceId } = span.span.context;
    tellClient(request, { span, level: "debug", outcome: "success" });
    span.succeed();
    if (answer.kind !== "created" || exchange.session === undefined) {
      progress.end();
      return { response, traceId };
    }
    const { task } = answer;
    const { principal } = admitted;
    return {
      response,
      traceId,
      afterwards: () =>
        followTask(deps, { exchange, principal, task, progress }),
    };
  } catch (error) {
    progress.end();
    if (signal.aborted && !(signal.reason instanceof BridgeError)) {
      span.cancel();
      return undefined;
    }
    return refuse(deps, request, { span, error });
  } finally {
    admitted.release();
  }
}

async function run(
  deps: ToolsCallDeps,
  request: ToolsCallRequest,
  { admitted, span, progress }: {
    admitted: AdmittedCall;
    span: CallSpan;
    progress: ProgressReporter;
  },
): Promise<ToolAnswer> {
  const { tool, call, principal } = admitted;
  const { exchange, signal } = request;
  const confirmed = await confirmCall(deps, request, admitted);
  signal.throwIfAborted();
  const deadline = startDeadline(signal, timeoutOf(deps, call));
  try {
    return await untilAborted(
      tool.call(call.arguments, {
        principal,
        span: span.span,
        signal: deadline.signal,
        onProgress: (report) => progress.report(report),
        log: logSenders(exchange, call.meta).tool,
        ...(call.task === undefined ? {} : { task: call.task }),
        ...confirmed,
      }),
      deadline.signal,
    );
  } finally {
    deadline.stop();
  }
}

async function confirmCall(
  deps: ToolsCallDeps,
  request: ToolsCallRequest,
  { tool, call, principal }: AdmittedCall,
): Promise<Confirmed> {
  const token = call.meta["cyberos/confirmation_token"];
  const ask = elicitConfirmation(request.exchange, {
    signal: request.signal,
    timeoutMs: deps.confirmTimeoutMs,
  });
  const evidence: Evidence = {
    hostConfirmed: call.meta["mcp/sampling/elicit_confirm"] === true,
    ...(typeof token === "string" ? { token } : {}),
    ...(deps.confirmations === undefined
      ? {}
      : { confirmations: deps.confirmations }),
    ...(ask === undefined ? {} : { ask }),
  };
  return await confirm(
    tool,
    { principal, arguments: call.arguments },
    evidence,
  );
}

function timeoutOf(deps: ToolsCallDeps, call: ToolCall): number {
  const waitSeconds = call.arguments["wait_seconds"];
  return deps.callTimeoutMs +
    (typeof waitSeconds === "number" ? 1000 * waitSeconds : 0);
}

function refuse(
  deps: ToolsCallDeps,
  request: ToolsCallRequest,
  { span, error }: { span: CallSpan; error: unknown },
): Answer {
  const { traceId } = span.span.context;
  const outcome = errorClassOf(error);
  tellClient(request, { span, level: LEVELS[outcome], outcome });
  span.fail(error);
  logRefusal(deps.log, error, traceId);
  return errorAnswer(error, { id: request.id, traceId });
}

const LEVELS: Readonly<Record<ErrorClass, LogLevel>> = {
  input_validation: "info",
  authz_denied: "notice",
  upstream_unavailable: "warning",
  internal_error: "error",
};

function tellClient(
  request: ToolsCallRequest,
  said: { span: CallSpan; level: LogLevel; outcome: string },
): void {
  const meta = request.params["_meta"];
  const { server } = logSenders(request.exchange, isObject(meta) ? meta : {});
  server(said.level, {
    event: "tools/call",
    tool: said.span.tool,
    outcome: said.outcome,
    trace_id: said.span.span.context.traceId,
  });
}
