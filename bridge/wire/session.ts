/** What a stdio connection remembers: its handshake, requests in flight, log level. */
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { BridgeError } from "../errors.ts";
import {
  isObject,
  isRequestId,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type RequestId,
} from "./json_rpc.ts";
import type { LogLevel } from "../calls/log_level.ts";

/** What a session is made of. */
export interface SessionOptions {
  /** Queues a message of ours to the client. Never throws. */
  readonly send: (message: JsonRpcRequest | JsonRpcNotification) => void;
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal;
  /** Requests in flight at once; one more is refused as `BUSY`. */
  readonly maxInFlight?: number;
}

/** A request in flight. */
export interface InFlight {
  /** Aborts when the client cancels the request or the connection ends. */
  readonly signal: AbortSignal;
  /** Whether the client cancelled it: then nothing is answered. */
  readonly cancelled: boolean;
  /** Takes it off the books. */
  end(): void;
}

interface Waiter {
  resolve(result: JsonValue): void;
  reject(error: Error): void;
}

const MAX_IN_FLIGHT = 64;

/**
 * One stdio connection's state. Nothing of a caller's identity is in it.
 *
 * Source: MCP 2025-11-25, basic/lifecycle and basic/utilities/cancellation.
 */
export class Session {
  /** Set once by `initialize`. */
  initialized = false;
  /** What the client declared in `initialize`. */
  clientCapabilities: JsonObject = {};
  /** What `logging/setLevel` asked for. */
  logLevel: LogLevel | undefined;
  /** Aborts when the connection ends. */
  readonly signal: AbortSignal;
  /** Progress tokens whose request or task still runs. */
  readonly progressTokens: Set<string | number> = new Set();

  readonly #options: SessionOptions;
  readonly #inFlight = new Map<
    RequestId,
    { controller: AbortController; cancelled: boolean }
  >();
  readonly #waiting = new Map<RequestId, Waiter>();
  #lastId = 0;

  /** Opens the session of one connection. */
  constructor(options: SessionOptions) {
    this.#options = options;
    this.signal = options.signal;
    options.signal.addEventListener("abort", () => this.#abortAll(), {
      once: true,
    });
  }

  /** How many requests are being worked on. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /**
   * Puts a request on the books. Ids compare by type and value: 1 and "1" differ.
   *
   * @throws {BridgeError} `INVALID_REQUEST` for an id that is in flight already
   * (the first request goes on undisturbed), `BUSY`.
   */
  begin(id: RequestId): InFlight {
    this.requireFree(id);
    if (this.#inFlight.size >= (this.#options.maxInFlight ?? MAX_IN_FLIGHT)) {
      throw new BridgeError("BUSY", "Too many requests are running at once");
    }
    const entry = { controller: new AbortController(), cancelled: false };
    if (this.signal.aborted) entry.controller.abort(this.signal.reason);
    this.#inFlight.set(id, entry);
    return {
      signal: entry.controller.signal,
      get cancelled() {
        return entry.cancelled;
      },
      end: () => {
        this.#inFlight.delete(id);
      },
    };
  }

  /** Lets an id pass that is not in flight. @throws {BridgeError} `INVALID_REQUEST`. */
  requireFree(id: RequestId): void {
    if (!this.#inFlight.has(id)) return;
    throw new BridgeError(
      "INVALID_REQUEST",
      "A request with this id is still running",
      { hint: "Give every request an id of its own." },
    );
  }

  /** Cancels a request of the client's; one that is unknown or done is ignored. */
  cancel(id: JsonValue | undefined): void {
    const entry = isRequestId(id) ? this.#inFlight.get(id) : undefined;
    if (entry === undefined) return;
    entry.cancelled = true;
    entry.controller.abort(new DOMException("Cancelled", "AbortError"));
  }

  /**
   * Asks the client and waits for its result.
   *
   * @throws When the client answers with an error, the signal aborts (the
   * client is told that we no longer wait) or the connection ends.
   */
  request(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonValue> {
    const id = `cyberos-${++this.#lastId}`;
    const { promise, resolve, reject } = Promise.withResolvers<JsonValue>();
    const onAbort = (): void => {
      this.#options.send({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: id, reason: "No longer needed" },
      });
      reject(signal.reason);
    };
    if (signal.aborted || this.signal.aborted) {
      return Promise.reject(signal.reason ?? this.signal.reason);
    }
    this.#waiting.set(id, { resolve, reject });
    signal.addEventListener("abort", onAbort, { once: true });
    this.#options.send({ jsonrpc: "2.0", id, method, params });
    return promise.finally(() => {
      this.#waiting.delete(id);
      signal.removeEventListener("abort", onAbort);
    });
  }

  /** Hands a response of the client's to the request of ours that waits for it; others are dropped. */
  settle(
    response: {
      readonly id: RequestId | undefined;
      readonly result?: JsonValue;
      readonly error?: JsonValue;
    },
  ): void {
    if (response.id === undefined) return;
    const waiter = this.#waiting.get(response.id);
    if (waiter === undefined) return;
    if (response.error === undefined && isObject(response.result)) {
      waiter.resolve(response.result);
    } else {
      waiter.reject(new Error("The client answered with an error"));
    }
  }

  #abortAll(): void {
    const reason = this.signal.reason;
    for (const { controller } of this.#inFlight.values()) {
      controller.abort(reason);
    }
    for (const waiter of this.#waiting.values()) waiter.reject(reason);
  }
}
