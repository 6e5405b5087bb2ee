/** What a database's refusal means to a caller. */
import { BridgeError } from "../errors.ts";

// Connection lost or refused, server starting or stopping, out of resources,
// lock not granted in time, serialization, a standby, wrong login, no such database.
const AWAY =
  /^(08...|57P0.|53...|55P03|40001|40P01|57014|25006|28...|3D000|EPIPE)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;
// Schema, table or function absent, or no right to use them.
const NOT_MIGRATED = /^(3F000|42P01|42883|42501)$/;
const REACHED_NOBODY = /^(08...|57P0.|EPIPE)$/;

/** SQLSTATE or system code of whatever a driver threw, if it has one. */
export function sqlCodeOf(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" ? code : undefined;
}

/** Whether the connection itself is at fault, rather than the statement. */
export function isConnectionFault(error: unknown): boolean {
  const code = sqlCodeOf(error);
  return code !== undefined &&
    (!SQLSTATE.test(code) || REACHED_NOBODY.test(code));
}

/**
 * Translates what a driver threw: a store that is away becomes
 * `STORE_UNAVAILABLE`; any other SQL error stays what it is, with its SQLSTATE
 * as `code`, and is a bug or a refusal that the statement's author expects.
 */
export function translateSqlError(error: unknown): unknown {
  if (error instanceof BridgeError) return error;
  const code = sqlCodeOf(error);
  if (code === undefined) return error;
  return AWAY.test(code) || isConnectionFault(error)
    ? storeUnavailable(error, hintFor(code))
    : error;
}

/** What only the operator can mend. */
function hintFor(code: string): string | undefined {
  if (/CERT|TLS|SSL/.test(code)) {
    return "The operator must make the database's certificate one that this machine trusts, or correct the host in the database URL.";
  }
  if (/^(28...|3D000)$/.test(code)) {
    return "The operator must correct the login or the database in the database URL.";
  }
  return undefined;
}

/** Whether the database lacks our schema, or our role lacks its rights. */
export function isNotMigrated(error: unknown): boolean {
  return NOT_MIGRATED.test(sqlCodeOf(error) ?? "");
}

/** The store is away; `cause` goes to the log only. */
export function storeUnavailable(cause: unknown, hint?: string): BridgeError {
  return new BridgeError(
    "STORE_UNAVAILABLE",
    "The task store cannot be reached",
    { cause, ...(hint === undefined ? {} : { hint }) },
  );
}
