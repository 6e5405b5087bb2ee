/**
 * Tasks that survive: the row is in the store before anybody hears of the
 * task, and whatever happens to this process, every task ends exactly once.
 *
 * Source: TASK-PLUGIN-002 §1 clause 5; MCP 2025-11-25 "Tasks"; decisions D6, D7, D9.
 */
import { BridgeError } from "../errors.ts";
import type {
  NewTask,
  StoredTask,
  TaskCreation,
  TaskOwner,
  TaskRunner,
  TaskSignal,
  TaskStart,
} from "../ports.ts";
import type { Principal, TaskView } from "../types.ts";
import { isTaskId, newTaskId } from "./task_id.ts";
import { requestHash } from "./task_request_hash.ts";
import { neverStarted, storeEnd } from "./task_runner_end.ts";
import {
  alreadyEnded,
  describe,
  isStoreAway,
  keyConflict,
  limitError,
  notFound,
} from "./task_runner_errors.ts";
import { findByKey } from "./task_runner_find.ts";
import { type LiveTask, runLive } from "./task_runner_live.ts";
import {
  clampTtl,
  type TaskRunnerOptions,
  toSettings,
} from "./task_runner_options.ts";
import { createSignalBoard } from "./task_runner_signals.ts";
import { waitForTask } from "./task_runner_wait.ts";
import { createUpkeep } from "./task_runner_upkeep.ts";

const MAX_ID_ATTEMPTS = 5;
const LIST_DEFAULT = 50;
const LIST_MOST = 200;
const RETRY_FIRST_MS = 100;
// A lost answer is asked for once more, if there is time for it.
const CREATE_RETRY_WITHIN_MS = 1500;

/** A live task with the promise of its stored end. */
interface Running {
  readonly live: LiveTask;
  /** Resolves once the end is stored, or cannot be. Never rejects. */
  readonly done: Promise<StoredTask | undefined>;
}

/** Makes a runner. It touches the store on first use, or at once if `eager`. */
export function createTaskRunner(options: TaskRunnerOptions): TaskRunner {
  const settings = toSettings(options);
  const { store, logger, limits } = settings;
  const makeId = options.newTaskId ?? newTaskId;
  const running = new Map<string, Running>();
  const live = new Map<string, LiveTask>();
  const board = createSignalBoard();
  const upkeep = createUpkeep(settings, live);
  let listening: Promise<{ stop(): Promise<void> }> | undefined;
  let closing = false;
  let gaveUp = false;

  function begin(): void {
    if (closing) return;
    upkeep.begin();
    // Back after an outage: the leases are the first thing to see to.
    listening ??= store.listen(hear, () => void upkeep.beat());
    listening.catch(() => listening = undefined);
  }

  function hear(signal: TaskSignal): void {
    if (signal.kind === "cancelled") live.get(signal.taskId)?.stop("cancelled");
    board.post(signal);
  }

  async function start(
    request: TaskStart,
  ): Promise<{ readonly task: TaskView; readonly created: boolean }> {
    if (closing) {
      throw new BridgeError("SHUTTING_DOWN", "The server is shutting down");
    }
    if (running.size >= settings.maxRunning) {
      throw limitError("runningPerTenant", settings.maxRunning);
    }
    begin();
    const creation = await create(await toNewTask(request), request);
    switch (creation.outcome) {
      case "created":
        launch(creation.task.taskId, request);
        return { task: toView(creation.task), created: true };
      case "existing":
        return { task: toView(creation.task), created: false };
      case "conflict":
        throw keyConflict();
      case "limit":
        throw limitError(creation.limit, limits[creation.limit]);
      case "collision":
        throw new BridgeError("INTERNAL", "No free task id was found");
    }
  }

  async function toNewTask(request: TaskStart): Promise<NewTask> {
    const { principal, idempotencyKey, timeoutMs } = request;
    return {
      taskId: "",
      owner: ownerOf(principal),
      tool: request.tool,
      input: request.input,
      traceId: request.span.context.traceId,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      requestHash: idempotencyKey === undefined
        ? ""
        : await requestHash(request.tool, request.input),
      timeoutMs,
      ttlMs: clampTtl(request.ttlMs, timeoutMs, settings.ttl),
      pollIntervalMs: settings.pollIntervalMs,
    };
  }

  async function create(
    template: NewTask,
    request: TaskStart,
  ): Promise<TaskCreation> {
    let creation: TaskCreation = { outcome: "collision" };
    for (let attempt = 0; attempt < MAX_ID_ATTEMPTS; attempt++) {
      const row = { ...template, taskId: makeId() };
      try {
        creation = await createOnce(row);
      } catch (error) {
        if (isStoreAway(error)) void clearUp(row, request);
        throw error;
      }
      if (creation.outcome !== "collision") break;
      logger.warn("task.id_collision");
    }
    return creation;
  }

  /**
   * Nobody knows whether the row was committed. If it was, a caller with a key
   * repeats the call and finds it, so its work must run; without a key nobody
   * will ever ask for it, so it ends here.
   */
  async function clearUp(row: NewTask, request: TaskStart): Promise<void> {
    const until = performance.now() + settings.leaseMs;
    while (performance.now() < until && !closing) {
      await board.next(row.taskId, RETRY_FIRST_MS * 5);
      try {
        const task = await store.get(row.owner, row.taskId);
        if (task?.status !== "running" || closing) return;
        if (row.idempotencyKey !== undefined) launch(row.taskId, request);
        else await store.finish(neverStarted(row));
        return;
      } catch (error) {
        if (!isStoreAway(error)) return;
      }
    }
  }

  async function createOnce(row: NewTask): Promise<TaskCreation> {
    const startedAt = performance.now();
    try {
      return await store.create(row, limits);
    } catch (error) {
      const soon = performance.now() - startedAt < CREATE_RETRY_WITHIN_MS;
      if (!isStoreAway(error) || !soon) throw error;
      await board.next(row.taskId, RETRY_FIRST_MS);
      return await store.create({ ...row, again: true }, limits);
    }
  }

  function launch(taskId: string, request: TaskStart): void {
    const task = runLive({
      taskId,
      request,
      stopGraceMs: settings.stopGraceMs,
      maxOutputLength: settings.maxOutputLength,
      onFault: (event, error) =>
        logger.error(event, {
          trace_id: request.span.context.traceId,
          ...(error === undefined ? {} : { error: describe(error) }),
        }),
    });
    live.set(taskId, task);
    const done = conclude(task, request).finally(() => {
      live.delete(taskId);
      running.delete(taskId);
      board.post({ kind: "ended", taskId });
    });
    running.set(taskId, { live: task, done });
    if (closing) task.stop("closing");
  }

  async function conclude(
    task: LiveTask,
    request: TaskStart,
  ): Promise<StoredTask | undefined> {
    const stored = await storeEnd(await task.end, {
      store,
      logger,
      board,
      gaveUp: () => gaveUp,
    });
    if (stored !== undefined && request.onEnd !== undefined) {
      // Not awaited: whoever waits for the task need not wait for its audit row.
      void request.onEnd(toView(stored)).catch((error) =>
        logger.error("task.on_end_failed", {
          trace_id: task.traceId,
          error: describe(error),
        })
      );
    }
    return stored;
  }

  async function get(principal: Principal, taskId: string): Promise<TaskView> {
    return toView(await find(principal, taskId));
  }

  async function find(
    principal: Principal,
    taskId: string,
  ): Promise<StoredTask> {
    if (!isTaskId(taskId)) throw notFound();
    begin();
    const task = await store.get(ownerOf(principal), taskId);
    if (task === undefined) throw notFound();
    return task;
  }

  /** The present state without `held`; progress as this process knows it, which is newer than the row's. */
  function toView({ held: _, ...task }: StoredTask): TaskView {
    const progress = live.get(task.taskId)?.progress;
    return task.status !== "running" || progress === undefined
      ? task
      : { ...task, progress };
  }

  async function cancel(
    principal: Principal,
    taskId: string,
  ): Promise<TaskView> {
    if (!isTaskId(taskId)) throw notFound();
    begin();
    const answer = await store.cancel(ownerOf(principal), taskId);
    if (answer === undefined) throw notFound();
    if (!answer.changed) {
      throw alreadyEnded(answer.task.status);
    }
    const mine = running.get(taskId);
    mine?.live.stop("cancelled");
    await untilLetGo(principal, taskId, mine);
    return toView(answer.task);
  }

  /** Until the cancelled task's work has ended, here or on another instance. */
  async function untilLetGo(
    principal: Principal,
    taskId: string,
    mine: Running | undefined,
  ): Promise<void> {
    const patience = AbortSignal.timeout(settings.stopGraceMs + 1000);
    if (mine !== undefined) {
      await Promise.race([mine.done, aborted(patience)]);
      return;
    }
    for (let wait = 100; !patience.aborted; wait = Math.min(wait * 2, 1000)) {
      await board.next(taskId, wait, patience);
      const task = await store.get(ownerOf(principal), taskId)
        .catch(() => undefined);
      if (task?.held !== true) return;
    }
  }

  async function close(): Promise<void> {
    closing = true;
    for (const { live: task } of running.values()) task.stop("closing");
    const all = Promise.all([...running.values()].map(({ done }) => done));
    await Promise.race([all, pause(settings.stopGraceMs)]);
    gaveUp = true;
    upkeep.stop();
    const subscription = await listening?.catch(() => undefined);
    await subscription?.stop().catch(() => {});
    await store.close();
  }

  if (options.eager) begin();
  return {
    start,
    async find(key) {
      begin();
      const task = await findByKey(store, key);
      return task && toView(task);
    },
    get,
    async list(principal, { cursor, limit }) {
      begin();
      const page = await store.list(ownerOf(principal), {
        ...(cursor === undefined ? {} : { cursor }),
        limit: Math.max(1, Math.min(limit ?? LIST_DEFAULT, LIST_MOST)),
      });
      return {
        tasks: page.tasks.map(toView),
        ...(page.nextCursor === undefined
          ? {}
          : { nextCursor: page.nextCursor }),
      };
    },
    cancel,
    wait: (principal, taskId, options) =>
      waitForTask(taskId, options, {
        find: async () => toView(await find(principal, taskId)),
        live: () => live.get(taskId),
        board,
        pollIntervalMs: settings.pollIntervalMs,
      }),
    status(signal) {
      begin();
      return store.status(signal);
    },
    close,
  };
}

function ownerOf({ tenantId, subject }: Principal): TaskOwner {
  return { tenantId, subject };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    Deno.unrefTimer(setTimeout(resolve, ms) as unknown as number);
  });
}
