/** The span of a tool call, and what is logged when it ends. */
import { outcomeOf } from "../calls/failure.ts";
import type { Clock, Logger, Span, Telemetry } from "../ports.ts";

/** Where spans and log lines go. */
export interface CallSpanDeps {
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly pluginId: string;
}

/** One span, ended once. */
export interface CallSpan {
  readonly span: Span;
  /** The tool's registered name, or `_unknown`. */
  readonly tool: string;
  /** The call was answered with a result. */
  succeed(): void;
  /** The call was refused, or hit a bug. */
  fail(error: unknown): void;
  /** The caller has cancelled the call or gone. */
  cancel(): void;
}

/**
 * Opens the span `tools/call {tool}`. An unknown tool is `_unknown`: a caller's
 * text would make a new series of it in every dashboard.
 *
 * Source: TASK-PLUGIN-002 §1 clause 8; OpenTelemetry semantic conventions for MCP.
 *
 * @param options.tool The tool's registered name.
 */
export function openCallSpan(
  deps: CallSpanDeps,
  options: {
    readonly tool: string | undefined;
    readonly traceparent: string | undefined;
    readonly transport: "stdio" | "http";
  },
): CallSpan {
  const tool = options.tool ?? "_unknown";
  const startedMs = deps.clock.now();
  const span = deps.telemetry.startSpan(`tools/call ${tool}`, {
    kind: "server",
    attributes: {
      "mcp.method.name": "tools/call",
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "network.transport": options.transport === "stdio" ? "pipe" : "tcp",
      "cyberos.plugin_id": deps.pluginId,
      "cyberos.tool_name": tool,
    },
    ...(options.traceparent === undefined
      ? {}
      : { parent: options.traceparent }),
  });
  const { traceId } = span.context;
  span.set({ "cyberos.trace_id": traceId });
  const close = (outcome: string, errorType?: string): void => {
    const durationMs = Math.max(0, deps.clock.now() - startedMs);
    span.set({
      "cyberos.duration_ms": durationMs,
      "cyberos.outcome": outcome,
    });
    span.end(errorType);
    deps.log.debug("tools/call", {
      tool,
      trace_id: traceId,
      duration_ms: durationMs,
      outcome,
    });
  };
  return {
    span,
    tool,
    succeed: () => close("success"),
    fail: (error) => {
      const outcome = outcomeOf(error);
      close(outcome, outcome);
    },
    cancel: () => close("cancelled", "cancelled"),
  };
}
