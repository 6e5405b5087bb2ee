/** Progress of a task after its handle has been answered. */
import type { Logger, TaskRunner } from "../ports.ts";
import type { Principal, TaskView } from "../types.ts";
import type { Exchange } from "./exchange.ts";
import type { ProgressReporter } from "./reports.ts";
import { toMcpTask } from "./task_results.ts";

// The longest timeout_seconds, and time for the end to be stored.
const MAX_FOLLOW_MS = 3_660_000;

/**
 * Reports progress under the token of the request that made the task until the
 * task has ended, and says so. Only a stdio session can hear it: an HTTP stream
 * ends with its answer.
 *
 * Source: MCP 2025-11-25, basic/utilities/tasks, "Task Progress Notifications"
 * and "Task Status Notification".
 */
export async function followTask(
  deps: { readonly tasks: () => Promise<TaskRunner>; readonly log: Logger },
  followed: {
    readonly exchange: Exchange;
    readonly principal: Principal;
    readonly task: TaskView;
    readonly progress: ProgressReporter;
  },
): Promise<void> {
  const { exchange, principal, task, progress } = followed;
  progress.attach(task.taskId);
  try {
    const runner = await deps.tasks();
    const end = await runner.wait(principal, task.taskId, {
      timeoutMs: MAX_FOLLOW_MS,
      signal: exchange.session?.signal ?? exchange.signal,
      onProgress: (report) => progress.report(report),
    });
    progress.end();
    if (end.status !== "running") {
      exchange.notify("notifications/tasks/status", toMcpTask(end));
    }
  } catch (error) {
    deps.log.debug("stopped following a task", {
      trace_id: task.traceId,
      error: error instanceof Error ? error.message : String(error),
    });
  } finally {
    progress.end();
  }
}
