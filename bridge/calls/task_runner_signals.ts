/** Who waits for word of which task, from whatever instance it comes. */
import type { TaskSignal } from "../ports.ts";

/** Signals by task id. */
export interface SignalBoard {
  /** Wakes everybody who waits for this task. */
  post(signal: TaskSignal): void;
  /** Resolves with the next signal for the task or after the time, whichever is first. Never rejects. */
  next(taskId: string, timeoutMs: number, signal?: AbortSignal): Promise<void>;
  /** How many wait. */
  readonly size: number;
}

/** Makes an empty board. */
export function createSignalBoard(): SignalBoard {
  const waiting = new Map<string, Set<() => void>>();
  let size = 0;

  function remove(taskId: string, waiter: () => void): void {
    const waiters = waiting.get(taskId);
    if (!waiters?.delete(waiter)) return;
    size--;
    if (waiters.size === 0) waiting.delete(taskId);
  }

  return {
    get size() {
      return size;
    },
    post({ taskId }) {
      for (const waiter of [...waiting.get(taskId) ?? []]) waiter();
    },
    next(taskId, timeoutMs, signal) {
      return new Promise((resolve) => {
        const done = (): void => {
          remove(taskId, done);
          clearTimeout(timer);
          signal?.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        let waiters = waiting.get(taskId);
        if (waiters === undefined) waiting.set(taskId, waiters = new Set());
        waiters.add(done);
        size++;
        signal?.addEventListener("abort", done, { once: true });
        if (signal?.aborted) done();
      });
    },
  };
}
