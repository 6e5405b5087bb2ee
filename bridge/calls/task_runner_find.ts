/** Finding a task by its key without starting one. */
import type { StoredTask, TaskKey, TaskLimits, TaskStore } from "../ports.ts";
import { newTaskId } from "./task_id.ts";
import { requestHash } from "./task_request_hash.ts";
import { keyConflict } from "./task_runner_errors.ts";

// With no room for any task, a creation can only find what is there.
const NO_ROOM: TaskLimits = {
  runningPerSubject: 0,
  runningPerTenant: 0,
  keptPerSubject: 0,
  keptPerTenant: 0,
};

/**
 * The task that the key started with this input.
 *
 * @throws {BridgeError} `CONFLICT`, `STORE_UNAVAILABLE`.
 */
export async function findByKey(
  store: TaskStore,
  { principal, tool, input, idempotencyKey }: TaskKey,
): Promise<StoredTask | undefined> {
  const creation = await store.create({
    taskId: newTaskId(),
    owner: { tenantId: principal.tenantId, subject: principal.subject },
    tool,
    input: {},
    traceId: "0".repeat(32),
    idempotencyKey,
    requestHash: await requestHash(tool, input),
    timeoutMs: 1000,
    ttlMs: 1000,
    pollIntervalMs: 1000,
  }, NO_ROOM);
  if (creation.outcome === "conflict") throw keyConflict();
  return creation.outcome === "existing" ? creation.task : undefined;
}
