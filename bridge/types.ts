/** The words of the bridge's domain. Nothing here knows JSON-RPC, HTTP or SQL. */
import type { JsonObject } from "../schema/json.ts";
import type { ToolName } from "../schema/tools.ts";

/** W3C Trace Context of one span: lower-case hex, 32 and 16 digits. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the trace is recorded, where that is known. */
  readonly sampled?: boolean;
}

/** Who is calling, read from one request's token and forgotten with it. */
export interface Principal {
  readonly subject: string;
  /** Tenant UUID, lower case. */
  readonly tenantId: string;
  readonly scopes: ReadonlySet<string>;
}

/** A persona of CUO. */
export interface Persona {
  readonly slug: string;
  readonly title: string;
  readonly description?: string;
  readonly status: string;
  readonly workflowCount: number;
}

/** A workflow of a persona. */
export interface Workflow {
  readonly slug: string;
  readonly title?: string;
  readonly description?: string;
  readonly cadence: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly skillChain: readonly string[];
}

/** Where CUO would send a request. `persona` and `workflow` are absent when nothing fits. */
export interface Route {
  readonly persona?: string;
  readonly workflow?: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** Other candidates as `persona/workflow`, best first. */
  readonly alternates: readonly string[];
  readonly rationale?: string;
  readonly hint?: string;
}

/** One step's report while a workflow or skill runs. */
export interface Progress {
  /** 1-based. */
  readonly step: number;
  readonly total?: number;
  readonly message?: string;
}

/** A row of the audit memory, as the memory service gives it. */
export type AuditRow = JsonObject;

/** A skill of the catalogue. */
export interface Skill {
  readonly skillId: string;
  readonly title?: string;
  readonly description: string;
}

/** A skill that could not be read, and why (no path of this machine in it). */
export interface SkillProblem {
  readonly skillId: string;
  readonly reason: string;
}

/** Where a task stands; everything but `running` is final. */
export type TaskStatus = "running" | "completed" | "failed" | "cancelled";

/** Why a task failed: the `error` object that the call itself would have answered. */
export interface TaskFailure {
  readonly code: number;
  readonly message: string;
  readonly data: JsonObject;
}

/** A task as its owner may see it. */
export interface TaskView {
  readonly taskId: string;
  readonly tool: ToolName;
  readonly status: TaskStatus;
  readonly output?: JsonObject;
  readonly error?: TaskFailure;
  readonly progress?: Progress;
  /** Epoch milliseconds, by the store's clock. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly completedAtMs?: number;
  /** How long the task is kept after its creation, in milliseconds. */
  readonly ttlMs: number;
  readonly pollIntervalMs: number;
  readonly traceId: string;
}

/** Whether something that the bridge leans on works, in words for `/readyz` and `check`. */
export interface DependencyStatus {
  /** Such as `memory`. */
  readonly name: string;
  /** `degraded` still serves. */
  readonly state: "ok" | "degraded" | "down" | "not configured";
  /** What is wrong and what to do; never a secret, path or address. */
  readonly detail?: string;
  /** It will not mend itself and is unsafe: an operator's server does not start with it. */
  readonly unsafe?: true;
}
