/** The runner's two habits: prolonging its leases, and looking after what others left. */
import { BridgeError } from "../errors.ts";
import type { TaskBeat } from "../ports.ts";
import type { Progress } from "../types.ts";
import { toFailure } from "./failure.ts";
import { lostError, timeoutError } from "./task_runner_errors.ts";
import type { LiveTask } from "./task_runner_live.ts";
import type { RunnerSettings } from "./task_runner_options.ts";

/** Both habits of one runner. */
export interface Upkeep {
  /** Starts them, once. */
  begin(): void;
  /** One heartbeat now. Never rejects. */
  beat(): Promise<void>;
  /** One round of maintenance now. Never rejects. */
  maintain(): Promise<void>;
  stop(): void;
}

/** Makes the habits; `live` is the runner's own table of running tasks. */
export function createUpkeep(
  settings: RunnerSettings,
  live: ReadonlyMap<string, LiveTask>,
): Upkeep {
  const { store, clock, logger, leaseMs } = settings;
  const timers: ReturnType<typeof setInterval>[] = [];
  let beating: Promise<void> | undefined;
  let maintaining: Promise<void> | undefined;
  // Nobody's lease has lapsed before others had the time to prolong theirs:
  // after our own start, and after an outage that may have been everybody's.
  let patientUntil = clock.now() + leaseMs;

  async function sendBeat(): Promise<void> {
    const told = [...live.values()].filter((task) => task.progressUnsaved);
    for (const task of told) task.progressUnsaved = false;
    try {
      const stop = await store.beat(toBeats(live.values(), new Set(told)));
      for (const taskId of stop) live.get(taskId)?.stop("lost");
    } catch (error) {
      for (const task of told) task.progressUnsaved = true;
      patientUntil = clock.now() + leaseMs;
      report("task.heartbeat_failed", error);
    }
  }

  async function lookAfter(): Promise<void> {
    if (clock.now() < patientUntil) return;
    try {
      const done = await store.maintain({
        lost: toFailure(lostError(), ""),
        overdue: toFailure(timeoutError("its timeout"), ""),
      });
      if (done.closed + done.removed > 0) {
        logger.info("task.maintained", { ...done });
      }
    } catch (error) {
      patientUntil = clock.now() + leaseMs;
      report("task.maintenance_failed", error);
    }
  }

  function report(event: string, error: unknown): void {
    logger.warn(event, {
      reason: error instanceof BridgeError ? error.code : String(error),
    });
  }

  function beat(): Promise<void> {
    if (live.size === 0) return Promise.resolve();
    return beating ??= sendBeat().finally(() => beating = undefined);
  }

  function maintain(): Promise<void> {
    return maintaining ??= lookAfter().finally(() => maintaining = undefined);
  }

  function every(ms: number, habit: () => Promise<void>): void {
    const timer = setInterval(() => void habit(), ms);
    Deno.unrefTimer(timer as unknown as number);
    timers.push(timer);
  }

  return {
    begin() {
      if (timers.length > 0) return;
      every(leaseMs / 3, beat);
      // Not in step with the other instances.
      every(leaseMs / 3 * (0.8 + Math.random() * 0.4), maintain);
    },
    beat,
    maintain,
    stop() {
      for (const timer of timers.splice(0)) clearInterval(timer);
    },
  };
}

function toBeats(
  tasks: Iterable<LiveTask>,
  told: ReadonlySet<LiveTask>,
): readonly TaskBeat[] {
  const byTenant = new Map<
    string,
    { taskIds: string[]; progress: Record<string, Progress> }
  >();
  for (const task of tasks) {
    let beat = byTenant.get(task.tenantId);
    if (beat === undefined) {
      byTenant.set(task.tenantId, beat = { taskIds: [], progress: {} });
    }
    beat.taskIds.push(task.taskId);
    if (told.has(task) && task.progress !== undefined) {
      beat.progress[task.taskId] = task.progress;
    }
  }
  return [...byTenant].map(([tenantId, beat]) => ({ tenantId, ...beat }));
}
