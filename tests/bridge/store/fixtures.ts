/** Tasks and owners for store tests. */
import type { NewTask, TaskLimits, TaskOwner } from "../../../bridge/ports.ts";
import { newTaskId } from "../../../bridge/calls/task_id.ts";

/** A tenant of its own. */
export function newOwner(subject = "ann"): TaskOwner {
  return { tenantId: crypto.randomUUID(), subject };
}

/** A task to be. */
export function newTask(overrides: Partial<NewTask> = {}): NewTask {
  return {
    taskId: newTaskId(),
    owner: newOwner(),
    tool: "cyberos.cuo.execute_workflow",
    input: { persona: "cto", workflow: "adr", inputs: {} },
    traceId: crypto.randomUUID().replaceAll("-", ""),
    requestHash: "h1",
    timeoutMs: 60_000,
    ttlMs: 120_000,
    pollIntervalMs: 1000,
    ...overrides,
  };
}

/** Limits that no ordinary test reaches. */
export const WIDE: TaskLimits = {
  runningPerSubject: 1000,
  runningPerTenant: 1000,
  keptPerSubject: 1000,
  keptPerTenant: 1000,
};

/** What lost and overdue tasks are told in tests. */
export const ENDINGS = {
  lost: {
    code: -32001,
    message: "lost",
    data: { class: "upstream_unavailable", trace_id: "", hint: "run it again" },
  },
  overdue: {
    code: -32603,
    message: "overdue",
    data: { class: "internal_error", trace_id: "" },
  },
};

/** Waits until it holds, for at most a few seconds. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  withinMs = 5000,
): Promise<void> {
  const until = performance.now() + withinMs;
  while (!await holds()) {
    if (performance.now() > until) throw new Error(`Not so: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
