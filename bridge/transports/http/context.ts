/** What travels with one HTTP request through the transport. */

/** What a server can be told by the handler about its connection. */
export interface HttpInfo {
  /** Keeps the connection from counting as idle until the work is done. */
  readonly keepBusy?: (work: Promise<unknown>) => void;
}

/** One request with what the guard found out about it. */
export interface HttpContext {
  readonly request: Request;
  readonly info: HttpInfo;
  /** For every answer to this request, whatever its status: `Vary`, and CORS where the origin may read. */
  readonly commonHeaders: Readonly<Record<string, string>>;
}
