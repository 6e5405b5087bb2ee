/** How the task runner refuses. */
import { BridgeError } from "../errors.ts";
import type { TaskLimits } from "../ports.ts";
import type { TaskStatus } from "../types.ts";

/** Why work is told to stop before it has ended by itself. */
export type StopReason = "cancelled" | "timeout" | "lost" | "closing";

/** What a caller reads of a task that was stopped. */
export function stopError(
  reason: StopReason,
  timeoutMs: number,
): BridgeError {
  switch (reason) {
    case "timeout":
      return timeoutError(`its timeout of ${timeoutMs / 1000} s`);
    case "cancelled":
      return new BridgeError("TASK_CANCELLED", "The task was cancelled");
    case "closing":
    case "lost":
      return lostError();
  }
}

/** The run took longer than it may. */
export function timeoutError(than: string): BridgeError {
  return new BridgeError("TASK_TIMEOUT", `The run took longer than ${than}`);
}

/** The instance that ran the task went away. */
export function lostError(): BridgeError {
  return new BridgeError(
    "TASK_LOST",
    "The instance that ran this task went away before it ended",
    {
      hint:
        "Run it again; with an idempotency_key choose a new one, for the old one names this task.",
    },
  );
}

/** The result is more than the store is to hold. */
export function outputTooLarge(maxLength: number): BridgeError {
  return new BridgeError("UPSTREAM_UNAVAILABLE", "The result is too large", {
    hint:
      `Results are limited to ${maxLength} characters of JSON: ask for less.`,
    retryable: false,
  });
}

/** One key, two different calls. */
export function keyConflict(): BridgeError {
  return new BridgeError(
    "CONFLICT",
    "The idempotency key was used for a call with other arguments",
    { hint: "Choose a new idempotency_key for a new call." },
  );
}

/** What has ended is not cancelled. */
export function alreadyEnded(status: TaskStatus): BridgeError {
  return new BridgeError(
    "TASK_FINISHED",
    `Cannot cancel the task: it is already ${status}`,
    { hint: `The task is ${status}; read its result.`, data: { status } },
  );
}

/** Also what a task of somebody else is. */
export function notFound(): BridgeError {
  return new BridgeError("TASK_NOT_FOUND", "Task not found");
}

const LIMIT_WORDS: Readonly<Record<keyof TaskLimits, string>> = {
  runningPerSubject: "of this user run at one time",
  runningPerTenant: "run at one time here",
  keptPerSubject: "of this user are kept",
  keptPerTenant: "of this organisation are kept",
};

/** One task more than this instance or the store takes. */
export function limitError(limit: keyof TaskLimits, most: number): BridgeError {
  const kept = limit.startsWith("kept");
  return new BridgeError(
    "TASK_LIMIT",
    `No more than ${most} tasks ${LIMIT_WORDS[limit]}`,
    kept
      ? {
        hint:
          "Finished tasks are removed when their ttl is over; ask for shorter ones.",
      }
      : {},
  );
}

/** Whether it was the store that could not be reached. */
export function isStoreAway(error: unknown): boolean {
  return error instanceof BridgeError && error.code === "STORE_UNAVAILABLE";
}

/** An error for the log: whole. */
export function describe(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
