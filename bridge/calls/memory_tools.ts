/** The two tools over the audit memory. */
import type { JsonObject } from "../../schema/json.ts";
import type { AuditFilter, Memory } from "../ports.ts";
import type { AuditRow } from "../types.ts";
import type { ToolAnswer, ToolContext } from "./tool_set.ts";

const DEFAULT_ROWS = 50;

/**
 * `cyberos.memory.read_audit`. Rows that would make the answer larger than a
 * host takes are left for the next page, which `next_seq` begins.
 *
 * @param maxAnswerChars What all rows may take as JSON; at least one row is given whatever its size.
 */
export async function readAudit(
  memory: Memory,
  args: JsonObject,
  context: ToolContext & { readonly maxAnswerChars: number },
): Promise<ToolAnswer> {
  const { rows, nextSeq } = await memory.readAudit(toFilter(args), context);
  const fitting = fittingRows(rows, context.maxAnswerChars);
  const cut = fitting < rows.length;
  return {
    kind: "result",
    structured: {
      rows: rows.slice(0, fitting),
      next_seq: cut ? seqOf(rows[fitting - 1]) : nextSeq,
    },
  };
}

/**
 * `cyberos.memory.append_audit`. A replayed confirmation token appends once, as
 * its digest is the row's idempotency key.
 */
export async function appendAudit(
  memory: Memory,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolAnswer> {
  const { seq, recordedAt } = await memory.appendAudit({
    kind: args["kind"] as string,
    body: args["body"] as JsonObject,
    idempotencyKey: context.replayKey ?? crypto.randomUUID(),
  }, context);
  return {
    kind: "result",
    structured: {
      seq,
      ...(recordedAt === undefined ? {} : { recorded_at: recordedAt }),
    },
  };
}

function toFilter(args: JsonObject): AuditFilter {
  return {
    ...(args["actor"] === undefined ? {} : { actor: args["actor"] as string }),
    ...(args["kind"] === undefined ? {} : { kind: args["kind"] as string }),
    ...(args["since_seq"] === undefined
      ? {}
      : { sinceSeq: args["since_seq"] as number }),
    limit: (args["limit"] as number | undefined) ?? DEFAULT_ROWS,
  };
}

function fittingRows(rows: readonly AuditRow[], maxChars: number): number {
  let chars = 0;
  for (const [index, row] of rows.entries()) {
    chars += JSON.stringify(row).length;
    // Without a number to go on from, a cut would lose the rest.
    if (
      index > 0 && chars > maxChars && seqOf(rows[index - 1]) !== null
    ) return index;
  }
  return rows.length;
}

function seqOf(row: AuditRow | undefined): number | null {
  const seq = row?.["seq"];
  return Number.isSafeInteger(seq) ? seq as number : null;
}
