/** What the thread that runs PGlite is told, and what it says. */
import type { JsonValue } from "../../schema/json.ts";
import type { SqlRow } from "../ports.ts";

/** To the thread. */
export type PgliteRequest =
  | {
    readonly type: "open";
    /** Absent: in memory. */
    readonly dataDir?: string;
  }
  | {
    readonly type: "query";
    readonly id: number;
    readonly statement: string;
    readonly parameters: readonly JsonValue[];
  }
  | { readonly type: "listen"; readonly channel: string }
  | { readonly type: "close" };

/** From the thread. */
export type PgliteReply =
  | { readonly type: "opened" }
  | { readonly type: "broken"; readonly message: string }
  | {
    readonly type: "rows";
    readonly id: number;
    readonly rows: readonly SqlRow[];
  }
  | { readonly type: "refused"; readonly id: number; readonly error: SqlFault }
  | {
    readonly type: "notify";
    readonly channel: string;
    readonly payload: string;
  }
  | { readonly type: "closed" };

/** An SQL error in plain data. */
export interface SqlFault {
  readonly message: string;
  /** SQLSTATE or a system code. */
  readonly code?: string;
}

/** The error that a fault was, as drivers throw it. */
export function toSqlError({ message, code }: SqlFault): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
