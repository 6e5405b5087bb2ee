/** The interfaces that the bridge's use cases own and its adapters implement. */
import type { JsonObject, JsonValue } from "../schema/json.ts";
import type { ToolName } from "../schema/tools.ts";
import type {
  AuditRow,
  DependencyStatus,
  Persona,
  Principal,
  Progress,
  Route,
  Skill,
  SkillProblem,
  TaskFailure,
  TaskStatus,
  TaskView,
  TraceContext,
  Workflow,
} from "./types.ts";

/** Time, passed in so that tests need not sleep. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

/** Structured log, one JSON object a line on stderr. Never a token, body or argument in it. */
export interface Logger {
  debug(event: string, fields?: JsonObject): void;
  info(event: string, fields?: JsonObject): void;
  warn(event: string, fields?: JsonObject): void;
  error(event: string, fields?: JsonObject): void;
}

/** A running span. Attributes hold no arguments, results, tokens or bodies. */
export interface Span {
  readonly context: TraceContext;
  /** W3C `traceparent` for what this span calls. */
  readonly traceparent: string;
  set(attributes: Readonly<Record<string, string | number | boolean>>): void;
  /** Ends the span; `errorType` marks it failed (an error class, or `panic`). */
  end(errorType?: string): void;
}

/** What {@link Telemetry.startSpan} may be told. */
export interface SpanOptions {
  readonly kind?: "server" | "client" | "internal";
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
  /** The parent: a span of ours, or a caller's `traceparent` (ignored where malformed). */
  readonly parent?: TraceContext | string;
}

/** Spans out. Makes trace ids even where nothing is exported. Never throws, never blocks. */
export interface Telemetry {
  startSpan(name: string, options?: SpanOptions): Span;
  /** Sends what is buffered, for at most this long. Never rejects. */
  shutdown(timeoutMs: number): Promise<void>;
}

/** What every upstream call is told. */
export interface UpstreamContext {
  readonly principal: Principal;
  /** The span to open child spans under. */
  readonly span: Span;
  /** Carries both deadline and cancellation. */
  readonly signal: AbortSignal;
}

/** {@link UpstreamContext} of a run that reports progress. */
export interface RunContext extends UpstreamContext {
  readonly taskId: string;
  readonly onProgress: (progress: Progress) => void;
}

/** Personas and workflows. Every method throws {@link BridgeError} only. */
export interface Cuo {
  listPersonas(context: UpstreamContext): Promise<readonly Persona[]>;
  /** @throws {BridgeError} `NOT_FOUND` with the nearest names in the hint. */
  listWorkflows(
    persona: string,
    context: UpstreamContext,
  ): Promise<readonly Workflow[]>;
  /** Answers a route without persona and workflow when nothing fits. */
  route(query: string, context: UpstreamContext): Promise<Route>;
  /** Resolves with `{steps_executed, final_artifacts, …}`. */
  executeWorkflow(
    run: {
      readonly persona: string;
      readonly workflow: string;
      readonly inputs: JsonObject;
    },
    context: RunContext,
  ): Promise<JsonObject>;
  status(signal: AbortSignal): Promise<DependencyStatus>;
  /** Ends children and connections. */
  close(): Promise<void>;
}

/** Which rows {@link Memory.readAudit} gives. */
export interface AuditFilter {
  readonly actor?: string;
  readonly kind?: string;
  readonly sinceSeq?: number;
  readonly limit: number;
}

/** The audit memory. */
export interface Memory {
  readAudit(
    filter: AuditFilter,
    context: UpstreamContext,
  ): Promise<
    { readonly rows: readonly AuditRow[]; readonly nextSeq: number | null }
  >;
  /** Appends a row for the principal; the same `idempotencyKey` appends it once. */
  appendAudit(
    row: {
      readonly kind: string;
      readonly body: JsonObject;
      readonly idempotencyKey: string;
    },
    context: UpstreamContext,
  ): Promise<{ readonly seq: number; readonly recordedAt?: string }>;
  status(signal: AbortSignal): Promise<DependencyStatus>;
  close(): Promise<void>;
}

/** The skill catalogue. */
export interface Skills {
  /** All skills in a fixed order (by id), with the ones that could not be read. */
  list(
    context: UpstreamContext,
  ): Promise<
    {
      readonly skills: readonly Skill[];
      readonly problems: readonly SkillProblem[];
    }
  >;
  /** @throws {BridgeError} `NOT_FOUND` with the nearest ids in the hint. */
  invoke(
    run: { readonly skillId: string; readonly inputs: JsonObject },
    context: RunContext,
  ): Promise<JsonObject>;
  status(signal: AbortSignal): Promise<DependencyStatus>;
  close(): Promise<void>;
}

/** The three upstreams together. */
export interface Upstreams {
  readonly cuo: Cuo;
  readonly memory: Memory;
  readonly skills: Skills;
}

/** Turns a bearer token into the caller. Holds no identity between calls. */
export interface Authenticator {
  /**
   * @param token The bare token, or `undefined` when the request carried none.
   * @throws {BridgeError} `TOKEN_MISSING`, `TOKEN_INVALID`, `TOKEN_EXPIRED`, `KEYS_UNAVAILABLE`.
   */
  authenticate(
    token: string | undefined,
    signal?: AbortSignal,
  ): Promise<Principal>;
  status(signal: AbortSignal): Promise<DependencyStatus>;
}

/** Judges pre-signed confirmation tokens (decision D5). */
export interface Confirmations {
  /** Whether the token confirms exactly this call of this caller. Never throws. */
  verify(
    token: string,
    call: {
      readonly principal: Principal;
      readonly tool: ToolName;
      readonly arguments: JsonObject;
    },
  ): Promise<boolean>;
}

/** What a task is started with. */
export interface TaskStart {
  readonly principal: Principal;
  readonly tool: ToolName;
  /** The validated arguments, without the task options (wait, timeout, key). */
  readonly input: JsonObject;
  readonly idempotencyKey?: string;
  readonly timeoutMs: number;
  /** As asked for; clamped by the runner. */
  readonly ttlMs?: number;
  readonly span: Span;
  /** The work. It must end when the signal aborts, with everything it started gone. */
  readonly work: (context: RunContext) => Promise<JsonObject>;
  /** Told after the task has ended and been stored; for the audit row. Its failure is logged only. */
  readonly onEnd?: (task: TaskView) => Promise<void>;
}

/** What names a task that an earlier call started. */
export interface TaskKey {
  readonly principal: Principal;
  readonly tool: ToolName;
  /** As in {@link TaskStart}. */
  readonly input: JsonObject;
  readonly idempotencyKey: string;
}

/** Starts and follows tasks. Tasks of other tenants and subjects do not exist for a caller. */
export interface TaskRunner {
  /** Commits the row before it resolves. `created` is false when the key named an earlier task. */
  start(
    request: TaskStart,
  ): Promise<{ readonly task: TaskView; readonly created: boolean }>;
  /**
   * The task that this key started, or nothing; never starts one.
   *
   * @throws {BridgeError} `CONFLICT` where the key started another call, `STORE_UNAVAILABLE`.
   */
  find?(key: TaskKey): Promise<TaskView | undefined>;
  /** @throws {BridgeError} `TASK_NOT_FOUND`, `STORE_UNAVAILABLE`. */
  get(principal: Principal, taskId: string): Promise<TaskView>;
  /** Newest first. The cursor is opaque and tamper-proof. */
  list(
    principal: Principal,
    page: { readonly cursor?: string; readonly limit?: number },
  ): Promise<
    { readonly tasks: readonly TaskView[]; readonly nextCursor?: string }
  >;
  /** Resolves with the cancelled task once its work has ended. @throws {BridgeError} `TASK_FINISHED`. */
  cancel(principal: Principal, taskId: string): Promise<TaskView>;
  /**
   * Waits until the task has ended, at most `timeoutMs`, without holding a connection, and
   * resolves with its state then. `onProgress` hears of progress while it waits.
   */
  wait(
    principal: Principal,
    taskId: string,
    options: {
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
      readonly onProgress?: (progress: Progress) => void;
    },
  ): Promise<TaskView>;
  status(signal: AbortSignal): Promise<DependencyStatus>;
  /** Stops the work of this instance (its tasks end as `failed`, run it again) and leaves the store. */
  close(): Promise<void>;
}

/** Whose task it is: others neither see nor touch it. */
export interface TaskOwner {
  readonly tenantId: string;
  readonly subject: string;
}

/** A task as the store has it. */
export interface StoredTask extends TaskView {
  /** Whether an instance still holds the task: its work may not have ended yet. */
  readonly held: boolean;
}

/** A row to be. */
export interface NewTask {
  readonly taskId: string;
  readonly owner: TaskOwner;
  readonly tool: ToolName;
  readonly input: JsonObject;
  readonly traceId: string;
  readonly idempotencyKey?: string;
  /** Of tool and input: tells a repeated call from another call under the same key. */
  readonly requestHash: string;
  readonly timeoutMs: number;
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  /** The same attempt once more, because the first one's answer was lost. */
  readonly again?: boolean;
}

/** How many tasks one owner may have. */
export interface TaskLimits {
  readonly runningPerSubject: number;
  readonly runningPerTenant: number;
  /** Running and finished ones together. */
  readonly keptPerSubject: number;
  readonly keptPerTenant: number;
}

/** What became of a {@link NewTask}. */
export type TaskCreation =
  | { readonly outcome: "created" | "existing"; readonly task: StoredTask }
  /** The key belongs to a call with other arguments. */
  | { readonly outcome: "conflict" }
  /** The id is taken: choose another. */
  | { readonly outcome: "collision" }
  | { readonly outcome: "limit"; readonly limit: keyof TaskLimits };

/** The end of a task. */
export interface TaskEnd {
  readonly tenantId: string;
  readonly taskId: string;
  readonly status: Exclude<TaskStatus, "running">;
  readonly output?: JsonObject;
  readonly error?: TaskFailure;
}

/** The tasks of one tenant that an instance still runs. */
export interface TaskBeat {
  readonly tenantId: string;
  readonly taskIds: readonly string[];
  /** By task id; only what changed. */
  readonly progress: Readonly<Record<string, Progress>>;
}

/** What the store tells all instances: a task was cancelled, or its work has ended. */
export interface TaskSignal {
  readonly kind: "cancelled" | "ended";
  readonly taskId: string;
}

/** One store for all instances. Every method throws {@link BridgeError} `STORE_UNAVAILABLE` when it is away. */
export interface TaskStore {
  /** Commits the row, held by this instance, before it resolves. */
  create(task: NewTask, limits: TaskLimits): Promise<TaskCreation>;
  get(owner: TaskOwner, taskId: string): Promise<StoredTask | undefined>;
  /** Newest first, without outputs. The cursor is opaque. @throws {BridgeError} `PARAMS_INVALID` for a cursor that is not ours. */
  list(
    owner: TaskOwner,
    page: { readonly cursor?: string; readonly limit: number },
  ): Promise<
    { readonly tasks: readonly StoredTask[]; readonly nextCursor?: string }
  >;
  /** Ends the task if this instance still runs it, and lets go of it in any case. Resolves with what it is now. */
  finish(
    end: TaskEnd,
  ): Promise<{ readonly changed: boolean; readonly task?: StoredTask }>;
  /** Marks a running task cancelled and tells its instance. */
  cancel(
    owner: TaskOwner,
    taskId: string,
  ): Promise<
    { readonly changed: boolean; readonly task: StoredTask } | undefined
  >;
  /** Prolongs this instance's leases. Resolves with the ids that it must stop. */
  beat(beats: readonly TaskBeat[]): Promise<readonly string[]>;
  /**
   * Closes tasks whose instance went away, and removes finished tasks whose ttl is over.
   *
   * @param endings What lost and overdue tasks are told; the row's trace id is filled in.
   */
  maintain(endings: {
    readonly lost: TaskFailure;
    readonly overdue: TaskFailure;
  }): Promise<{ readonly closed: number; readonly removed: number }>;
  /**
   * Calls `onSignal` for signals of all instances; signals may be lost: poll as
   * well. `onReady` is told on each (re)connect.
   */
  listen(
    onSignal: (signal: TaskSignal) => void,
    onReady?: () => void,
  ): Promise<{ stop(): Promise<void> }>;
  status(signal: AbortSignal): Promise<DependencyStatus>;
  /** Leaves the store, and its database unless that is somebody else's too. */
  close(): Promise<void>;
}

/** A row of a query's answer. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * The one way to a database: a single statement per call, each its own
 * transaction, so that no tenant setting outlives it.
 */
export interface SqlDriver {
  /** @throws {BridgeError} `STORE_UNAVAILABLE`. Other SQL errors are thrown with their SQLSTATE as `code`. */
  query(
    statement: string,
    parameters: readonly JsonValue[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly SqlRow[]>;
  /** Calls `onNotify` for each NOTIFY on the channel, again after a reconnect; `onReady` on each (re)connect. */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReady?: () => void,
  ): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}

export type { TaskFailure };
