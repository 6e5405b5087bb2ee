/** What a transport tells the protocol about one incoming message. */
import type { JsonObject } from "../../schema/json.ts";
import type { Principal } from "../types.ts";
import type { Session } from "./session.ts";

/** One incoming message's surroundings. */
export interface Exchange {
  readonly transport: "stdio" | "http";
  /** Aborts when nobody waits for the answer any more: the server stops, the deadline of the connection passed. */
  readonly signal: AbortSignal;
  /** W3C `traceparent` of the transport (HTTP header), valid or not. `params._meta.traceparent` counts where this is absent. */
  readonly traceparent?: string;
  /**
   * Who is calling. Asked for only by `tools/call` and `tasks/*`: a host on
   * stdio lists tools before login. HTTP judges the token of every request
   * before it reads the body and gives the outcome here.
   *
   * @throws {BridgeError} `TOKEN_MISSING`, `TOKEN_INVALID`, `TOKEN_EXPIRED`, `KEYS_UNAVAILABLE`.
   */
  authenticate(): Promise<Principal>;
  /**
   * Sends a notification that belongs to this request. All but those of a task
   * that outlives its request are sent before the answer. Never throws; a
   * transport that cannot stream drops it.
   */
  notify(method: string, params: JsonObject): void;
  /** The connection's state on stdio. HTTP is stateless and has none. */
  readonly session?: Session;
}
