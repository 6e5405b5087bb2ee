/** Tasks as `plugin_host.task_view` writes them. */
import type { JsonObject } from "../../schema/json.ts";
import type { ToolName } from "../../schema/tools.ts";
import type { StoredTask } from "../ports.ts";
import type { Progress, TaskFailure, TaskStatus } from "../types.ts";

/** The JSON of one task. Times are epoch milliseconds. */
export interface TaskRow {
  readonly task_id: string;
  readonly tool_name: string;
  readonly status: TaskStatus;
  readonly output: JsonObject | null;
  readonly error: TaskFailure | null;
  readonly progress: Progress | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at: number | null;
  readonly ttl_ms: number;
  readonly poll_interval_ms: number;
  readonly trace_id: string;
  readonly held: boolean;
}

/** Decodes a row; absent members stay absent. */
export function toStoredTask(row: TaskRow): StoredTask {
  return {
    taskId: row.task_id,
    tool: row.tool_name as ToolName,
    status: row.status,
    ...(row.output === null ? {} : { output: row.output }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.progress === null ? {} : { progress: row.progress }),
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    ...(row.completed_at === null ? {} : { completedAtMs: row.completed_at }),
    ttlMs: row.ttl_ms,
    pollIntervalMs: row.poll_interval_ms,
    traceId: row.trace_id,
    held: row.held,
  };
}
