/** The two phases of a request: judged first, run after. */
import type { BridgeError } from "../errors.ts";
import type { JsonRpcResponse } from "./json_rpc.ts";

/** An answer, with what a transport may have to know of it beyond the JSON. */
export interface Answer {
  readonly response: JsonRpcResponse;
  /**
   * Why it is an error, for the transport's own words (HTTP status, challenge).
   * `BRIDGE_ERRORS[error.code].httpStatus` is the status of PRODUCT decision D2.
   */
  readonly error?: BridgeError;
  /** The response as JSON text, where it is at hand already; see `encodeAnswer`. */
  readonly encoded?: string;
  /** W3C trace id, the same as in the error's data. */
  readonly traceId: string;
  /** To be called once the answer is queued: starts what reports on a task after it. */
  readonly afterwards?: () => void;
}

/** What is to be done with an incoming message. */
export type Admission =
  /** A notification or a response: never answered. */
  | { readonly kind: "none" }
  /** Answered at once: a short method, or a refusal (401, 403 and 429 among them). */
  | { readonly kind: "answer"; readonly answer: Answer }
  | {
    readonly kind: "call";
    /** Whether the caller gave a progress token: a transport that can stream then should. */
    readonly wantsProgress: boolean;
    /**
     * Does the work. To be called exactly once. Never rejects; resolves without
     * an answer when the caller cancelled the request or has gone.
     */
    readonly run: () => Promise<Answer | undefined>;
  };
