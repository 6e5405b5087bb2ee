/** How the end of a task gets into the store, and stays there. */
import { BridgeError } from "../errors.ts";
import type {
  Logger,
  NewTask,
  StoredTask,
  TaskEnd,
  TaskStore,
} from "../ports.ts";
import { toFailure } from "./failure.ts";
import { describe, isStoreAway, lostError } from "./task_runner_errors.ts";
import type { SignalBoard } from "./task_runner_signals.ts";

/** What {@link storeEnd} needs. */
export interface EndOptions {
  readonly store: TaskStore;
  readonly logger: Logger;
  readonly board: SignalBoard;
  /** Whether the process ends and can wait no longer. */
  readonly gaveUp: () => boolean;
}

const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 2000;

/** Stores the end however long the store is away; another end that came first stays. Never rejects. */
export async function storeEnd(
  end: TaskEnd,
  { store, logger, board, gaveUp }: EndOptions,
): Promise<StoredTask | undefined> {
  let truth = end;
  for (let wait = RETRY_FIRST_MS;; wait = Math.min(wait * 2, RETRY_LAST_MS)) {
    try {
      const { changed, task } = await store.finish(truth);
      if (!changed && task !== undefined && task.status !== truth.status) {
        logger.info("task.late_end_dropped", {
          status: task.status,
          dropped: truth.status,
          trace_id: task.traceId,
        });
      }
      return task;
    } catch (error) {
      if (!isStoreAway(error)) {
        logger.error("task.end_refused", { error: describe(error) });
        if (truth !== end) return undefined;
        truth = unstorable(end);
        continue;
      }
      if (gaveUp()) return undefined;
    }
    await board.next(end.taskId, wait);
  }
}

/** The end of a task whose creation was never heard of. */
export function neverStarted({ owner, taskId, traceId }: NewTask): TaskEnd {
  const error = new BridgeError(
    "STORE_UNAVAILABLE",
    "The task was never started: the task store went away",
  );
  return {
    tenantId: owner.tenantId,
    taskId,
    status: "failed",
    error: toFailure(error, traceId),
  };
}

/** The end of a task whose real end the store refuses to hold. */
function unstorable({ tenantId, taskId }: TaskEnd): TaskEnd {
  return {
    tenantId,
    taskId,
    status: "failed",
    error: {
      code: -32603,
      message: "The result cannot be stored",
      data: { class: "internal_error", hint: lostError().hint },
    },
  };
}
