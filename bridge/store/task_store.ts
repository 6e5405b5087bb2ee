/**
 * The task store over SQL: each operation is one call of one function of
 * `migrations/0001_tasks.sql`, and so one statement and one transaction.
 */
import type { JsonValue } from "../../schema/json.ts";
import { BridgeError } from "../errors.ts";
import type {
  SqlDriver,
  StoredTask,
  TaskCreation,
  TaskLimits,
  TaskStore,
} from "../ports.ts";
import type { DependencyStatus } from "../types.ts";
import { createCursorSealer, type CursorSealer } from "./cursor.ts";
import { toJsonText, toSqlText } from "./json_text.ts";
import {
  checkBridgeRole,
  notMigrated,
  RoleRefusedError,
} from "./role_check.ts";
import { isNotMigrated, storeUnavailable } from "./sql_error.ts";
import { type TaskRow, toStoredTask } from "./task_row.ts";

/** What the store is told. */
export interface TaskStoreOptions {
  readonly driver: SqlDriver;
  /** This process, among those that share the store. */
  readonly instanceId: string;
  readonly pluginId: string;
  /** How long a silent instance keeps its tasks. */
  readonly leaseMs: number;
  /** How long after the database's own start no lease counts as lapsed, for nobody could prolong it. */
  readonly patienceMs?: number;
  /** The driver is the one that `--embedded` brings along. */
  readonly embedded?: boolean;
  /** Somebody else uses the driver too, and closes it. */
  readonly sharedDriver?: boolean;
}

/** The NOTIFY channel of every instance. Payloads hold a kind and a task id, nothing of a tenant. */
export const TASK_CHANNEL = "cyberos_tasks";

const MAINTAINED_TENANTS = 100;
const MAINTAINED_ROWS = 500;
// What an instance may take to find a server that has come back.
const RECONNECT_MS = 5000;

/** Makes the store. It proves its connection before the first operation, and whenever it had to be made anew. */
export function createTaskStore(options: TaskStoreOptions): TaskStore {
  const { driver, instanceId, leaseMs } = options;
  const patienceMs = options.patienceMs ?? leaseMs + RECONNECT_MS;
  let proof: Promise<void> | undefined;
  let sealer: Promise<CursorSealer> | undefined;

  /** Runs once; again only after a failure. */
  function proven(): Promise<void> {
    return proof ??= checkBridgeRole(driver, options).catch((error) => {
      proof = undefined;
      throw error;
    });
  }

  async function call<T>(
    name: string,
    parameters: readonly JsonValue[],
  ): Promise<T> {
    await proven();
    const places = (CASTS[name] ?? [])
      .map((type, index) => `$${index + 1}::${type}`);
    try {
      const [row] = await driver.query(
        `select plugin_host.${name}(${places.join(", ")}) as answer`,
        parameters,
      );
      return row?.answer as T;
    } catch (error) {
      if (error instanceof BridgeError) throw error;
      if (isNotMigrated(error)) {
        proof = undefined;
        throw notMigrated(error);
      }
      throw error;
    }
  }

  function cursors(): Promise<CursorSealer> {
    return sealer ??= call<string>("cursor_key", []).then(createCursorSealer)
      .catch((error) => {
        sealer = undefined;
        throw error;
      });
  }

  return {
    async create(task, limits) {
      const answer = await call<CreationRow>("task_create", [
        task.owner.tenantId,
        toSqlText(task.owner.subject),
        task.taskId,
        options.pluginId,
        task.tool,
        toJsonText(task.input),
        task.traceId,
        task.idempotencyKey === undefined
          ? null
          : toSqlText(task.idempotencyKey),
        task.requestHash,
        task.timeoutMs,
        task.ttlMs,
        task.pollIntervalMs,
        instanceId,
        leaseMs,
        limitsText(limits),
        task.again ?? false,
      ]);
      return toCreation(answer);
    },

    async get({ tenantId, subject }, taskId) {
      const row = await call<TaskRow | null>("task_get", [
        tenantId,
        toSqlText(subject),
        taskId,
      ]);
      return row === null ? undefined : toStoredTask(row);
    },

    async list(owner, { cursor, limit }) {
      const before = cursor === undefined
        ? undefined
        : await (await cursors()).open(cursor, owner);
      // One more than asked for tells whether there is a next page.
      const rows = await call<{ us: number; task: TaskRow }[]>("task_list", [
        owner.tenantId,
        toSqlText(owner.subject),
        before?.us ?? null,
        before?.id ?? null,
        limit + 1,
      ]);
      const last = rows[limit - 1];
      const tasks = rows.slice(0, limit).map(({ task }) => toStoredTask(task));
      if (rows.length <= limit || last === undefined) return { tasks };
      const place = { us: last.us, id: last.task.task_id };
      return { tasks, nextCursor: await (await cursors()).seal(place, owner) };
    },

    async finish({ tenantId, taskId, status, output, error }) {
      return toChange(
        await call<ChangeRow>("task_finish", [
          tenantId,
          taskId,
          instanceId,
          status,
          output === undefined ? null : toJsonText(output),
          error === undefined ? null : toJsonText({ ...error }),
        ]),
      );
    },

    async cancel({ tenantId, subject }, taskId) {
      const row = await call<ChangeRow | null>("task_cancel", [
        tenantId,
        toSqlText(subject),
        taskId,
      ]);
      if (row === null || row.task === null) return undefined;
      return { changed: row.changed, task: toStoredTask(row.task) };
    },

    beat(beats) {
      return call<string[]>("task_beat", [
        instanceId,
        leaseMs,
        toJsonText(beats.map(({ tenantId, taskIds, progress }) => ({
          tenant_id: tenantId,
          tasks: taskIds.map((id) => ({
            id,
            progress: progress[id] === undefined ? null : { ...progress[id] },
          })),
        }))),
      ]);
    },

    async maintain({ lost, overdue }) {
      const due = await call<string[]>("task_tenants_due", [
        MAINTAINED_TENANTS,
      ]);
      const total = { closed: 0, removed: 0 };
      for (const tenantId of due) {
        const done = await call<typeof total>("task_maintain", [
          tenantId,
          toJsonText({ ...lost }),
          toJsonText({ ...overdue }),
          patienceMs,
          MAINTAINED_ROWS,
        ]);
        total.closed += done.closed;
        total.removed += done.removed;
      }
      return total;
    },

    listen(onSignal, onReady) {
      return driver.listen(
        TASK_CHANNEL,
        (payload) => {
          const kind = payload[0] === "c"
            ? "cancelled"
            : payload[0] === "e"
            ? "ended"
            : undefined;
          if (kind !== undefined) onSignal({ kind, taskId: payload.slice(1) });
        },
        // Another connection, perhaps another server: prove it anew.
        () => {
          proof = undefined;
          onReady?.();
        },
      );
    },

    status: (signal) => statusOf(driver, options, signal),

    close: () => options.sharedDriver ? Promise.resolve() : driver.close(),
  };
}

/** Types of each function's parameters, so that no driver has to guess. */
const CASTS: Readonly<Record<string, readonly string[]>> = {
  task_create: [
    "uuid",
    "text",
    "text",
    "text",
    "text",
    "text::jsonb",
    "text",
    "text",
    "text",
    "bigint",
    "bigint",
    "integer",
    "text",
    "bigint",
    "text::jsonb",
    "boolean",
  ],
  task_get: ["uuid", "text", "text"],
  task_list: ["uuid", "text", "bigint", "text", "integer"],
  task_finish: ["uuid", "text", "text", "text", "text::jsonb", "text::jsonb"],
  task_cancel: ["uuid", "text", "text"],
  task_beat: ["text", "bigint", "text::jsonb"],
  task_tenants_due: ["integer"],
  task_maintain: ["uuid", "text::jsonb", "text::jsonb", "bigint", "integer"],
};

interface CreationRow {
  readonly outcome: TaskCreation["outcome"];
  readonly task?: TaskRow;
  readonly limit?: keyof TaskLimits;
}

interface ChangeRow {
  readonly changed: boolean;
  readonly task: TaskRow | null;
}

function toCreation({ outcome, task, limit }: CreationRow): TaskCreation {
  switch (outcome) {
    case "created":
    case "existing":
      return { outcome, task: toStoredTask(task as TaskRow) };
    case "limit":
      return { outcome, limit: limit as keyof TaskLimits };
    default:
      return { outcome };
  }
}

function toChange(
  { changed, task }: ChangeRow,
): { changed: boolean; task?: StoredTask } {
  return task === null ? { changed } : { changed, task: toStoredTask(task) };
}

function limitsText(limits: TaskLimits): string {
  return JSON.stringify({
    running_per_subject: limits.runningPerSubject,
    running_per_tenant: limits.runningPerTenant,
    kept_per_subject: limits.keptPerSubject,
    kept_per_tenant: limits.keptPerTenant,
  });
}

async function statusOf(
  driver: SqlDriver,
  options: TaskStoreOptions,
  signal: AbortSignal,
): Promise<DependencyStatus> {
  const name = options.embedded ? "embedded database" : "postgres";
  try {
    await Promise.race([
      checkBridgeRole(driver, options),
      new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), {
          once: true,
        })
      ),
    ]);
    return { name, state: "ok" };
  } catch (error) {
    const refused = error instanceof RoleRefusedError;
    const detail = error instanceof BridgeError
      ? refused ? `${error.message}. ${error.hint}` : error.hint
      : storeUnavailable(error).hint;
    return {
      name,
      state: "down",
      detail,
      ...(refused ? { unsafe: true } : {}),
    };
  }
}
