/** A page of audit rows, checked before anybody sees it. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import type { AuditRow } from "../../types.ts";
import { asArray, asCount, asObject, readShape } from "../common/shape.ts";

/** What a page is checked against. */
export interface PageOptions {
  readonly upstream: string;
  readonly tenantId: string;
  readonly limit: number;
  readonly onForeignRow: () => void;
}

/** A page as the port gives it. */
export interface AuditPage {
  readonly rows: readonly AuditRow[];
  readonly nextSeq: number | null;
}

const MAX_ROWS = 10_000;

/**
 * Reads `{rows, next_seq}`. One row that names another tenant spoils the whole
 * page: the service mixes tenants, so nothing that it says is passed on.
 *
 * @throws {BridgeError} `UPSTREAM_UNAVAILABLE`.
 */
export function readPage(answer: JsonValue, options: PageOptions): AuditPage {
  const page = readShape(options.upstream, () => {
    const object = asObject(answer, "answer");
    const next = object["next_seq"];
    return {
      rows: asArray(object["rows"], "answer/rows", MAX_ROWS).map(checkRow),
      nextSeq: next === undefined || next === null
        ? null
        : asCount(next, "answer/next_seq"),
    };
  });
  if (page.rows.some((row) => isForeign(row, options.tenantId))) {
    options.onForeignRow();
    throw new BridgeError(
      "UPSTREAM_UNAVAILABLE",
      `${options.upstream} gave an answer that does not belong to your tenant`,
      {
        retryable: false,
        hint:
          "Nothing of it is shown. Report the trace id to the operator: this is a fault of the memory service.",
      },
    );
  }
  return clip(page, options);
}

function checkRow(row: JsonValue, index: number): JsonObject {
  const object = asObject(row, `answer/rows/${index}`);
  if (object["seq"] !== undefined) {
    asCount(object["seq"], `answer/rows/${index}/seq`);
  }
  return object;
}

// The contract does not promise a tenant in each row; one that is named must be the caller's.
function isForeign(row: JsonObject, tenantId: string): boolean {
  const tenant = row["tenant_id"];
  if (tenant === undefined) return false;
  return typeof tenant !== "string" ||
    tenant.toLowerCase() !== tenantId.toLowerCase();
}

/** A service that ignores `limit` must not flood the caller; the cut goes on from the last row's seq. */
function clip(page: AuditPage, options: PageOptions): AuditPage {
  if (page.rows.length <= options.limit) return page;
  const rows = page.rows.slice(0, options.limit);
  const nextSeq = readShape(
    options.upstream,
    () => asCount(rows.at(-1)?.["seq"], "answer/rows/seq"),
  );
  return { rows, nextSeq };
}
