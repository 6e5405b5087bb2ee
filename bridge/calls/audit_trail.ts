/** The `plugin.invoked` row that a workflow run leaves in the audit memory. */
import type { ToolName } from "../../schema/tools.ts";
import type { Logger, Memory, Span, Telemetry } from "../ports.ts";
import type { Principal, TaskView } from "../types.ts";

/** What writes the row. */
export interface AuditTrail {
  readonly memory: () => Promise<Memory>;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  readonly pluginId: string;
  readonly version: string;
}

// The memory's own timeout is 5 s; this only bounds a memory that never answers.
const APPEND_TIMEOUT_MS = 15_000;

/**
 * Appends `plugin.invoked` for a task that has ended. Nothing of its inputs or
 * output is in the row. A failure is logged: the run itself has succeeded.
 *
 * Source: TASK-PLUGIN-002 §8 "Sample memory audit row".
 */
export async function recordInvocation(
  trail: AuditTrail,
  run: {
    readonly principal: Principal;
    readonly tool: ToolName;
    readonly task: TaskView;
    readonly parent: Span;
  },
): Promise<void> {
  const span = trail.telemetry.startSpan("memory.append_audit", {
    kind: "internal",
    parent: run.parent.context,
  });
  try {
    const memory = await trail.memory();
    await memory.appendAudit({
      kind: "plugin.invoked",
      body: {
        plugin_id: trail.pluginId,
        plugin_version: trail.version,
        tool_name: run.tool,
        trace_id: run.task.traceId,
        duration_ms: durationMs(run.task),
        outcome: outcomeOfTask(run.task),
      },
      idempotencyKey: `plugin.invoked:${run.task.taskId}`,
    }, {
      principal: run.principal,
      span,
      signal: AbortSignal.timeout(APPEND_TIMEOUT_MS),
    });
    span.end();
  } catch (error) {
    span.end("upstream_unavailable");
    trail.log.warn("audit row of a task was not written", {
      trace_id: run.task.traceId,
      error: error instanceof Error ? error.message : String(error),
    });
  }
}

/** How long a finished task ran, by the store's clock. */
export function durationMs(task: TaskView): number {
  const end = task.completedAtMs ?? task.updatedAtMs;
  return Math.max(0, Math.round(end - task.createdAtMs));
}

function outcomeOfTask(task: TaskView): string {
  if (task.status === "completed") return "success";
  const errorClass = task.error?.data["class"];
  return task.status === "failed" && typeof errorClass === "string"
    ? errorClass
    : task.status;
}
