import assert from "node:assert/strict";
import type { TaskView } from "../types.ts";
import { createSignalBoard } from "./task_runner_signals.ts";
import { waitForTask } from "./task_runner_wait.ts";

function task(status: TaskView["status"]): TaskView {
  return {
    taskId: "t-1",
    tool: "cyberos.skill.invoke_skill",
    status,
    createdAtMs: 0,
    updatedAtMs: 0,
    ttlMs: 1000,
    pollIntervalMs: 1,
    traceId: "0".repeat(32),
  };
}

function wait(
  statuses: TaskView["status"][],
  options: { timeoutMs: number; signal: AbortSignal },
): Promise<TaskView> {
  return waitForTask("t-1", options, {
    find: () => Promise.resolve(task(statuses.shift() ?? "running")),
    live: () => undefined,
    board: createSignalBoard(),
    pollIntervalMs: 1,
  });
}

Deno.test("waitForTask() leaves no timer and no listener behind, however it ends", async () => {
  const { timeout } = AbortSignal;
  const caller = new AbortController();
  let held = 0;
  // Such a timer cannot be taken back: it holds memory until it has run out.
  AbortSignal.timeout = (ms) => {
    held++;
    return timeout.call(AbortSignal, ms);
  };
  const { signal } = caller;
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: [string, never]) => {
    listeners.add(args[1]);
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: [string, never]) => {
    listeners.delete(args[1]);
    removeEventListener.apply(signal, args);
  };
  try {
    const long = { timeoutMs: 3_600_000, signal };
    assert.equal((await wait(["completed"], long)).status, "completed");
    assert.equal((await wait(["running", "failed"], long)).status, "failed");
    const short = { timeoutMs: 5, signal };
    assert.equal((await wait([], short)).status, "running");
    assert.deepEqual([held, listeners.size], [0, 0]);
    const left = wait([], long);
    caller.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    assert.deepEqual([held, listeners.size], [0, 0]);
  } finally {
    AbortSignal.timeout = timeout;
  }
});
