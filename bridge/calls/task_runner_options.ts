/** What a task runner is told, and what it does where it is told nothing. */
import type { Clock, Logger, TaskLimits, TaskStore } from "../ports.ts";

/** What {@link createTaskRunner} needs. */
export interface TaskRunnerOptions {
  readonly store: TaskStore;
  readonly clock: Clock;
  readonly logger: Logger;
  /** As the store was told; heartbeats come at a third of it. */
  readonly leaseMs: number;
  readonly limits?: Partial<TaskLimits>;
  /** Tasks that this instance runs at one time. */
  readonly maxRunning?: number;
  readonly ttl?: Partial<TtlOptions>;
  readonly pollIntervalMs?: number;
  /** A larger result makes its task fail. In characters of JSON. */
  readonly maxOutputLength?: number;
  /** How long work may take to end once it was told to. */
  readonly stopGraceMs?: number;
  /** Looks after other instances' tasks from the start, rather than from the first use. */
  readonly eager?: boolean;
  /** Makes ids; for tests of collisions. */
  readonly newTaskId?: () => string;
}

/** How long tasks are kept, counted from their creation. */
export interface TtlOptions {
  /** Where the caller asks for nothing: this long after the latest end of the run. */
  readonly defaultMs: number;
  /** At least this long after the latest end of the run, whatever the caller asks. */
  readonly minMs: number;
  /** At most this long. */
  readonly maxMs: number;
}

/** {@link TaskRunnerOptions} with nothing left open. */
export type RunnerSettings =
  & Required<
    Omit<TaskRunnerOptions, "limits" | "ttl" | "newTaskId" | "eager">
  >
  & {
    readonly limits: TaskLimits;
    readonly ttl: TtlOptions;
  };

const HOUR = 3_600_000;

/** Fills in the defaults. */
export function toSettings(options: TaskRunnerOptions): RunnerSettings {
  return {
    store: options.store,
    clock: options.clock,
    logger: options.logger,
    leaseMs: options.leaseMs,
    maxRunning: options.maxRunning ?? 10_000,
    pollIntervalMs: options.pollIntervalMs ?? 1000,
    maxOutputLength: options.maxOutputLength ?? 4_194_304,
    stopGraceMs: options.stopGraceMs ?? 10_000,
    limits: {
      runningPerSubject: 20,
      runningPerTenant: 200,
      keptPerSubject: 1000,
      keptPerTenant: 10_000,
      ...options.limits,
    },
    ttl: {
      defaultMs: HOUR,
      minMs: 60_000,
      maxMs: 24 * HOUR,
      ...options.ttl,
    },
  };
}

/**
 * How long a task is kept: what was asked for, but long enough to read the
 * result of a run that takes all of its time, and never for ever.
 */
export function clampTtl(
  asked: number | undefined,
  timeoutMs: number,
  { defaultMs, minMs, maxMs }: TtlOptions,
): number {
  const least = timeoutMs + minMs;
  if (asked === undefined || !Number.isFinite(asked)) {
    return Math.max(least, Math.min(timeoutMs + defaultMs, maxMs));
  }
  return Math.max(least, Math.min(Math.floor(asked), maxMs));
}
