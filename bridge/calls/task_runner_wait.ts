/** Waiting for a task without holding anything but a place on the board. */
import type { TaskRunner } from "../ports.ts";
import type { Progress, TaskView } from "../types.ts";
import { isStoreAway } from "./task_runner_errors.ts";
import type { LiveTask } from "./task_runner_live.ts";
import type { SignalBoard } from "./task_runner_signals.ts";

/** What {@link waitForTask} needs to know of its runner. */
export interface WaitContext {
  /** How the task stands now. */
  readonly find: () => Promise<TaskView>;
  /** The task, while it runs in this process. */
  readonly live: () => LiveTask | undefined;
  readonly board: SignalBoard;
  readonly pollIntervalMs: number;
}

/**
 * Resolves when the task has ended, or with its state at the deadline.
 *
 * An outage is waited through; only one that lasts to the deadline is told.
 */
export async function waitForTask(
  taskId: string,
  { timeoutMs, signal, onProgress }: Parameters<TaskRunner["wait"]>[2],
  { find, live, board, pollIntervalMs }: WaitContext,
): Promise<TaskView> {
  signal.throwIfAborted();
  let task = await find();
  let told = 0;
  const tell = (progress: Progress | undefined): void => {
    if (progress === undefined || progress.step <= told) return;
    told = progress.step;
    onProgress?.(progress);
  };
  tell(task.progress);
  if (task.status !== "running") return task;
  signal.throwIfAborted();
  // Not `AbortSignal.timeout`, whose timer cannot be taken back.
  const ending = new AbortController();
  const deadline = ending.signal;
  const end = (): void => ending.abort();
  const timer = setTimeout(end, Math.max(0, timeoutMs));
  signal.addEventListener("abort", end, { once: true });
  const mine = live();
  mine?.listeners.add(tell);
  try {
    let failure: unknown;
    while (task.status === "running" && !deadline.aborted) {
      // Our own task wakes us when it has ended; another instance's may not.
      const patience = live() === undefined ? pollIntervalMs : timeoutMs;
      await board.next(taskId, patience, deadline);
      signal.throwIfAborted();
      try {
        task = await find();
        failure = undefined;
        tell(task.progress);
      } catch (error) {
        if (!isStoreAway(error)) throw error;
        failure = error;
      }
    }
    if (failure !== undefined) throw failure;
    return task;
  } finally {
    mine?.listeners.delete(tell);
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}
