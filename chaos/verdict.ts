/** What must hold after the chaos, each with those who break it. */
import type { WorkNote } from "./cuo_program.ts";
import type { AcceptedTask, LoadRecord } from "./load.ts";

/** One promise, and the evidence against it. */
export interface Verdict {
  readonly promise: string;
  /** How many cases it was judged on. */
  readonly cases: number;
  readonly broken: readonly string[];
}

/** A row of the store at the end, read past every policy. */
export interface FinalRow {
  readonly task_id: string;
  readonly tenant_id: string;
  readonly status: string;
  readonly idempotency_key: string;
  /** Epoch milliseconds. */
  readonly created_at: number;
}

/** Everything that the judges look at. */
export interface Evidence {
  readonly record: LoadRecord;
  readonly journal: readonly WorkNote[];
  readonly rows: readonly FinalRow[];
  readonly orphans: readonly number[];
  /** Instances that do not work at the end without a restart. */
  readonly broken: readonly string[];
  readonly instances: number;
  /** When instances were killed, epoch milliseconds. */
  readonly kills: readonly number[];
}

/** Judges. */
export function judge(evidence: Evidence): readonly Verdict[] {
  const { record, journal, rows } = evidence;
  const { tasks } = record;
  const byId = new Map(rows.map((row) => [row.task_id, row]));
  const done = new Set(
    journal.filter(({ event }) => event === "done").map((note) => note.taskId),
  );
  const verdict = (
    promise: string,
    cases: number,
    broken: readonly string[],
  ): Verdict => ({ promise, cases, broken });
  return [
    verdict(
      "every accepted task is in exactly one final state",
      tasks.length,
      tasks.filter((task) => {
        const row = byId.get(task.taskId);
        return row === undefined || row.status === "running" ||
          task.final?.status !== row.status;
      }).map((task) =>
        `${task.taskId}: told ${task.final?.status}, stored ${
          byId.get(task.taskId)?.status
        }`
      ),
    ),
    verdict(
      "a final state never changes",
      tasks.length,
      tasks.flatMap(({ taskId, contradictions }) =>
        contradictions.map((text) => `${taskId}: ${text}`)
      ),
    ),
    verdict(
      "the state tells the truth",
      tasks.length,
      tasks.flatMap((task) => untruths(task, done)),
    ),
    verdict(
      "only a killed instance loses a task",
      tasks.filter(isLost).length,
      tasks.filter(isLost).filter(({ taskId }) => {
        const createdAt = byId.get(taskId)?.created_at ?? Infinity;
        return !evidence.kills.some((at) => at >= createdAt);
      }).map(({ taskId }) => {
        const createdAt = byId.get(taskId)?.created_at;
        return `${taskId}: created at ${createdAt}, instances died at ${evidence.kills}`;
      }),
    ),
    verdict(
      "no task runs twice under one key, no key has two tasks",
      rows.length,
      [
        ...repeated(
          journal.filter(({ event }) => event === "start")
            .map(({ key }) => key),
        ),
        ...repeated(
          rows.map(({ tenant_id, idempotency_key }) =>
            `${tenant_id} ${idempotency_key}`
          ),
        ),
      ],
    ),
    verdict(
      "nobody is shown another tenant's task",
      record.probes,
      record.foreign,
    ),
    verdict("no process is left over", journal.length, [
      ...evidence.orphans.map(String),
    ]),
    verdict(
      "every instance works at the end without a restart",
      evidence.instances,
      evidence.broken,
    ),
    verdict(
      "callers meet only clean refusals",
      record.calls,
      record.surprises,
    ),
  ];
}

function untruths(task: AcceptedTask, done: ReadonlySet<string>): string[] {
  const { taskId, final, steps, crash } = task;
  const wrong = (text: string): string[] => [`${taskId}: ${text}`];
  switch (final?.status) {
    case "completed":
      if (crash > 0) return wrong("completed, but its child crashed");
      if (!done.has(taskId)) return wrong("completed, but its child did not");
      return final.answer.output?.steps_executed === steps
        ? []
        : wrong("completed with another output");
    case "cancelled":
      return task.cancelAsked ? [] : wrong("cancelled, but nobody asked");
    case "failed": {
      const { class: errorClass, hint } = final.answer.error?.data ?? {};
      return errorClass === "upstream_unavailable" && typeof hint === "string"
        ? []
        : wrong(`failed as ${errorClass}`);
    }
  }
  return wrong(`ended as ${final?.status}`);
}

function isLost({ final }: AcceptedTask): boolean {
  return /went away/.test(final?.answer.error?.message ?? "");
}

function repeated(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size)
    .map((value) => `${value} twice`);
}
