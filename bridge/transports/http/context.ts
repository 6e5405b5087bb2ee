/** What travels with one HTTP request through the transport. */

import type { SetAlarm } from "./alarms.ts";

/** What a server does for the handler, if it can. */
export interface HttpInfo {
  /** Keeps the connection from counting as idle until the work is done. */
  readonly keepBusy?: (work: Promise<unknown>) => void;
  /** Cheaper alarms than timers. */
  readonly setAlarm?: SetAlarm;
}

/** One request with what the guard found out about it. */
export interface HttpContext {
  readonly request: Request;
  readonly info: HttpInfo;
  /** For every answer to this request, whatever its status: `Vary`, and CORS where the origin may read. */
  readonly commonHeaders: Readonly<Record<string, string>>;
}
