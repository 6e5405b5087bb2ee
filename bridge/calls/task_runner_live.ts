/** One task whose work runs in this process. */
import type { JsonObject } from "../../schema/json.ts";
import { BridgeError } from "../errors.ts";
import type { TaskEnd, TaskStart } from "../ports.ts";
import type { Progress } from "../types.ts";
import { toFailure } from "./failure.ts";
import {
  outputTooLarge,
  stopError,
  type StopReason,
} from "./task_runner_errors.ts";

/** A running piece of work, from the row's commit until its end is stored. */
export interface LiveTask {
  readonly taskId: string;
  readonly tenantId: string;
  readonly traceId: string;
  /** The last progress, and whether the store has yet to hear of it. */
  progress: Progress | undefined;
  progressUnsaved: boolean;
  readonly listeners: Set<(progress: Progress) => void>;
  /** Tells the work to stop; the first reason counts. */
  stop(reason: StopReason): void;
  /** Why it was told to stop, if it was. */
  readonly stopReason: StopReason | undefined;
  /** The end to store, once the work has ended or its grace is over. Never rejects. */
  readonly end: Promise<TaskEnd>;
}

/** What {@link runLive} is told. */
export interface LiveOptions {
  readonly taskId: string;
  readonly request: TaskStart;
  readonly stopGraceMs: number;
  readonly maxOutputLength: number;
  /** Work that did not end within its grace, or threw what is no refusal. */
  readonly onFault: (event: string, error?: unknown) => void;
}

const MAX_MESSAGE = 500;

/** Starts the work of a committed task. */
export function runLive(options: LiveOptions): LiveTask {
  const { taskId, request } = options;
  const controller = new AbortController();
  let stopReason: StopReason | undefined;
  let ended = false;

  const stop = (reason: StopReason): void => {
    if (ended || stopReason !== undefined) return;
    stopReason = reason;
    controller.abort(stopError(reason, request.timeoutMs));
  };
  const timer = setTimeout(() => stop("timeout"), request.timeoutMs);
  const live: LiveTask = {
    taskId,
    tenantId: request.principal.tenantId,
    traceId: request.span.context.traceId,
    progress: undefined,
    progressUnsaved: false,
    listeners: new Set(),
    stop,
    get stopReason() {
      return stopReason;
    },
    end: Promise.race([work(), stuck()]).finally(() => {
      ended = true;
      clearTimeout(timer);
    }),
  };
  return live;

  async function work(): Promise<TaskEnd> {
    // So that even the first report of progress finds the task in place.
    await Promise.resolve();
    try {
      const output = await request.work({
        principal: request.principal,
        span: request.span,
        signal: controller.signal,
        taskId,
        onProgress: report,
      });
      return stopReason === undefined ? completed(output) : stopped();
    } catch (error) {
      if (stopReason !== undefined) return stopped();
      if (!(error instanceof BridgeError)) options.onFault("task.bug", error);
      return failed(error);
    }
  }

  /** The work ignores that it was told to stop: its task ends without it. */
  function stuck(): Promise<TaskEnd> {
    return new Promise((resolve) => {
      controller.signal.addEventListener("abort", () => {
        const grace = setTimeout(() => {
          if (ended) return;
          options.onFault("task.stuck");
          resolve(stopped());
        }, options.stopGraceMs);
        Deno.unrefTimer(grace as unknown as number);
      }, { once: true });
    });
  }

  function report(progress: Progress): void {
    const last = live.progress?.step ?? 0;
    if (ended || stopReason !== undefined || !(progress.step > last)) return;
    live.progress = progress.message === undefined ? progress : {
      ...progress,
      message: progress.message.slice(0, MAX_MESSAGE),
    };
    live.progressUnsaved = true;
    for (const listener of live.listeners) listener(live.progress);
  }

  function completed(output: JsonObject): TaskEnd {
    if (JSON.stringify(output).length > options.maxOutputLength) {
      return failed(outputTooLarge(options.maxOutputLength));
    }
    return { ...identity(), status: "completed", output };
  }

  function stopped(): TaskEnd {
    const reason = stopReason as StopReason;
    return reason === "cancelled"
      ? { ...identity(), status: "cancelled" }
      : failed(stopError(reason, request.timeoutMs));
  }

  function failed(error: unknown): TaskEnd {
    return {
      ...identity(),
      status: "failed",
      error: toFailure(error, request.span.context.traceId),
    };
  }

  function identity(): { tenantId: string; taskId: string } {
    return { tenantId: request.principal.tenantId, taskId };
  }
}
