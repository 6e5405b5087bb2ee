/** Tasks in memory, with the port's promises: isolation, keys, one terminal state, waits. */
import { toFailure } from "../../bridge/calls/failure.ts";
import { BridgeError } from "../../bridge/errors.ts";
import type {
  Clock,
  TaskKey,
  TaskRunner,
  TaskStart,
} from "../../bridge/ports.ts";
import type {
  DependencyStatus,
  Principal,
  Progress,
  TaskView,
} from "../../bridge/types.ts";

interface Entry {
  view: TaskView;
  readonly owner: string;
  readonly key: string | undefined;
  readonly input: string;
  readonly abort: AbortController;
  readonly done: Promise<void>;
  readonly listeners: Set<(progress: Progress) => void>;
}

/** A runner without a store. */
export class FakeTaskRunner implements TaskRunner {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();
  readonly #byKey = new Map<string, Entry>();
  /** What was started, in order. */
  readonly starts: TaskStart[] = [];
  /** Thrown by every method, where set. */
  failure: unknown;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(
    request: TaskStart,
  ): Promise<{ task: TaskView; created: boolean }> {
    return this.#try(() => {
      const owner = ownerOf(request.principal);
      const key = request.idempotencyKey === undefined
        ? undefined
        : `${owner} ${request.tool} ${request.idempotencyKey}`;
      const input = JSON.stringify(request.input);
      const earlier = key === undefined ? undefined : this.#byKey.get(key);
      if (earlier !== undefined) {
        if (earlier.input !== input) {
          throw new BridgeError("CONFLICT", "The key names another call");
        }
        return { task: earlier.view, created: false };
      }
      this.starts.push(request);
      return { task: this.#run(request, { owner, key, input }), created: true };
    });
  }

  find(key: TaskKey): Promise<TaskView | undefined> {
    return this.#try(() => {
      const name = `${
        ownerOf(key.principal)
      } ${key.tool} ${key.idempotencyKey}`;
      const earlier = this.#byKey.get(name);
      if (earlier === undefined) return undefined;
      if (earlier.input !== JSON.stringify(key.input)) {
        throw new BridgeError("CONFLICT", "The key names another call");
      }
      return earlier.view;
    });
  }

  get(principal: Principal, taskId: string): Promise<TaskView> {
    return this.#try(() => this.#find(principal, taskId).view);
  }

  list(
    principal: Principal,
    page: { cursor?: string; limit?: number },
  ): Promise<{ tasks: TaskView[]; nextCursor?: string }> {
    return this.#try(() => {
      const from = page.cursor === undefined ? 0 : Number(page.cursor);
      if (!Number.isSafeInteger(from)) {
        throw new BridgeError("PARAMS_INVALID", "Unknown cursor");
      }
      const all = [...this.#entries.values()]
        .filter(({ owner }) => owner === ownerOf(principal))
        .map(({ view }) => view).reverse();
      const to = from + (page.limit ?? 50);
      return {
        tasks: all.slice(from, to),
        ...(to < all.length ? { nextCursor: String(to) } : {}),
      };
    });
  }

  cancel(principal: Principal, taskId: string): Promise<TaskView> {
    return this.#try(async () => {
      const entry = this.#find(principal, taskId);
      if (entry.view.status !== "running") {
        throw new BridgeError("TASK_FINISHED", "The task has ended", {
          hint: `The task is ${entry.view.status} already; read its result.`,
        });
      }
      this.#end(entry, { status: "cancelled" });
      entry.abort.abort(new DOMException("Cancelled", "AbortError"));
      await entry.done;
      return entry.view;
    });
  }

  wait(
    principal: Principal,
    taskId: string,
    options: {
      timeoutMs: number;
      signal: AbortSignal;
      onProgress?: (progress: Progress) => void;
    },
  ): Promise<TaskView> {
    return this.#try(async () => {
      const entry = this.#find(principal, taskId);
      const { onProgress, signal } = options;
      if (onProgress !== undefined) entry.listeners.add(onProgress);
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, options.timeoutMs);
      signal.addEventListener("abort", () => resolve(), { once: true });
      await Promise.race([entry.done, promise]);
      clearTimeout(timer);
      if (onProgress !== undefined) entry.listeners.delete(onProgress);
      signal.throwIfAborted();
      return entry.view;
    });
  }

  status(): Promise<DependencyStatus> {
    return Promise.resolve({ name: "tasks", state: "ok" });
  }

  close(): Promise<void> {
    for (const entry of this.#entries.values()) entry.abort.abort();
    return Promise.resolve();
  }

  /** Resolves when no task runs any more. */
  async idle(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ done }) => done));
  }

  #run(
    request: TaskStart,
    known: { owner: string; key: string | undefined; input: string },
  ): TaskView {
    const now = this.#clock.now();
    const taskId = `t-${crypto.randomUUID()}`;
    const abort = new AbortController();
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    const entry: Entry = {
      view: {
        taskId,
        tool: request.tool,
        status: "running",
        createdAtMs: now,
        updatedAtMs: now,
        ttlMs: Math.min(request.ttlMs ?? 86_400_000, 604_800_000),
        pollIntervalMs: 1000,
        traceId: request.span.context.traceId,
      },
      ...known,
      abort,
      listeners: new Set(),
      done: started.then(() => this.#work(request, entry)),
    };
    this.#entries.set(taskId, entry);
    if (known.key !== undefined) this.#byKey.set(known.key, entry);
    // The work begins in a later turn, as a store would make it.
    setTimeout(start, 0);
    return entry.view;
  }

  async #work(request: TaskStart, entry: Entry): Promise<void> {
    try {
      const output = await request.work({
        principal: request.principal,
        span: request.span,
        signal: entry.abort.signal,
        taskId: entry.view.taskId,
        onProgress: (progress) => {
          entry.view = { ...entry.view, progress };
          for (const listener of entry.listeners) listener(progress);
        },
      });
      this.#end(entry, { status: "completed", output });
    } catch (error) {
      const failure = toFailure(error, entry.view.traceId);
      this.#end(entry, { status: "failed", error: failure });
    }
    await request.onEnd?.(entry.view);
  }

  #end(entry: Entry, change: Partial<TaskView>): void {
    if (entry.view.status !== "running") return;
    const now = this.#clock.now();
    entry.view = {
      ...entry.view,
      ...change,
      updatedAtMs: now,
      completedAtMs: now,
    };
  }

  #find(principal: Principal, taskId: string): Entry {
    const entry = this.#entries.get(taskId);
    if (entry === undefined || entry.owner !== ownerOf(principal)) {
      throw new BridgeError("TASK_NOT_FOUND", "Task not found");
    }
    return entry;
  }

  async #try<T>(work: () => T | Promise<T>): Promise<T> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    return await work();
  }
}

function ownerOf({ tenantId, subject }: Principal): string {
  return `${tenantId} ${subject}`;
}
