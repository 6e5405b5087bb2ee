/** One long-lived child for all short calls, so that no caller can harm another. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import { delay, orAbort, settledWithin } from "../common/deadline.ts";
import { Slots } from "../common/slots.ts";
import { ChildGone, type RpcCall, type RpcChild } from "./rpc_child.ts";

/** What {@link SharedRpc} needs. */
export interface SharedRpcOptions {
  /** Starts a child; throws a refusal where that fails. */
  readonly start: () => Promise<RpcChild>;
  readonly times: SharedRpcTimes;
}

/** How patient it is. */
export interface SharedRpcTimes {
  /** Silence after a given-up request that marks a child as hung. */
  readonly hungMs: number;
  /** Silence of a child with several requests after which one is tried beside it. */
  readonly hedgeMs: number;
  /** First pause before a start that follows two failures in a row; it doubles. */
  readonly backoffMs: number;
  readonly maxBackoffMs: number;
  /** How long a call waits for a pause to pass before it fails with `retry_after`. */
  readonly patienceMs: number;
  /** A child that nobody has used for so long is ended. */
  readonly idleMs: number;
}

const MAX_LOAD = 64;
const MAX_RETIRED = 4;
const MAX_ALONE = 4;

/**
 * Sends requests to the present child, and replaces it when it dies or hangs.
 *
 * A child that dies with several requests under way may have been killed by any
 * of them: each is then repeated once on a child of its own, so that only the
 * deadly one fails. A child that falls silent may hang in any of them: each is
 * then tried beside it. All requests here must be safe to repeat.
 */
export class SharedRpc {
  readonly #options: SharedRpcOptions;
  /** Children that are not gone with all that belongs to them. */
  readonly #children = new Set<RpcChild>();
  readonly #retired = new Set<RpcChild>();
  #current: RpcChild | undefined;
  #starting: Promise<RpcChild> | undefined;
  #failures = 0;
  #startableAt = 0;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #alone = new Slots("CUO", MAX_ALONE, MAX_LOAD);
  readonly #closing = new AbortController();

  constructor(options: SharedRpcOptions) {
    this.#options = options;
  }

  /** Makes a child that was started elsewhere (the probe's) the present one. */
  adopt(child: RpcChild): void {
    if (this.#closed || this.#current?.alive === true) {
      child.stop();
      return;
    }
    this.#track(child);
    this.#install(child);
  }

  /**
   * @throws {RpcRefusal} CUO answered with an error.
   * @throws {ChildGone} The child died of this request, or before it could be repeated.
   * @throws {BridgeError} No child can be started, or too many requests wait.
   * @throws The signal's reason.
   */
  async request(
    method: string,
    params: JsonObject,
    call: RpcCall,
  ): Promise<JsonValue> {
    const child = await this.#ready(call.signal);
    if (child.load >= MAX_LOAD) throw busy();
    try {
      const result = await this.#hedged(child, method, params, call);
      this.#failures = 0;
      this.#restartIdleTimer();
      return result;
    } catch (error) {
      if (error instanceof ChildGone && error.company > 1) {
        return await this.#requestAlone(method, params, call);
      }
      throw error;
    } finally {
      if (this.#retired.has(child) && child.load === 0) child.stop();
    }
  }

  /** Ends all children. */
  async close(): Promise<void> {
    this.#closing.abort(closed());
    clearTimeout(this.#idleTimer);
    await this.#starting?.catch(() => {});
    await Promise.all([...this.#children].map((child) => child.stop()));
  }

  get #closed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #ready(signal: AbortSignal): Promise<RpcChild> {
    if (this.#closed) throw closed();
    const current = this.#current;
    if (current?.alive === true) {
      if (!current.seemsHung(this.#options.times.hungMs)) return current;
      this.#retire(current);
    }
    this.#starting ??= this.#start().finally(() => this.#starting = undefined);
    return await orAbort(this.#starting, signal);
  }

  /** Not bound to any caller's signal: all who wait share it. */
  async #start(): Promise<RpcChild> {
    const waitMs = this.#startableAt - performance.now();
    if (waitMs > 0) {
      if (waitMs > this.#options.times.patienceMs) throw resting(waitMs);
      await delay(waitMs, this.#closing.signal);
    }
    try {
      const child = await this.#spawn();
      this.#install(child);
      return child;
    } catch (error) {
      this.#countFailure();
      throw error;
    }
  }

  async #spawn(): Promise<RpcChild> {
    const child = await this.#options.start();
    this.#track(child);
    if (!this.#closed) return child;
    await child.stop();
    throw closed();
  }

  #track(child: RpcChild): void {
    this.#children.add(child);
    child.gone.then(() => child.stop())
      .then(() => this.#children.delete(child));
  }

  #install(child: RpcChild): void {
    this.#current = child;
    child.gone.then((reason) => {
      if (reason !== "was stopped") this.#countFailure();
      if (this.#current === child) this.#current = undefined;
    });
    this.#restartIdleTimer();
  }

  /** The first failure costs nothing: the next call starts a new child at once. */
  #countFailure(): void {
    const { backoffMs, maxBackoffMs } = this.#options.times;
    this.#failures++;
    if (this.#failures < 2) return;
    const pause = Math.min(maxBackoffMs, backoffMs * 2 ** (this.#failures - 2));
    this.#startableAt = performance.now() + pause;
  }

  /** Takes no more requests; those under way may still be answered. */
  #retire(child: RpcChild): void {
    this.#current = undefined;
    this.#retired.add(child);
    child.gone.then(() => this.#retired.delete(child));
    for (const old of this.#retired) {
      if (old.load === 0 || this.#retired.size > MAX_RETIRED) old.stop();
    }
  }

  async #hedged(
    child: RpcChild,
    method: string,
    params: JsonObject,
    call: RpcCall,
  ): Promise<JsonValue> {
    const loser = new AbortController();
    const either = {
      ...call,
      signal: AbortSignal.any([call.signal, loser.signal]),
    };
    const { hedgeMs } = this.#options.times;
    const first = child.request(method, params, either);
    try {
      if (await settledWithin(first, hedgeMs) || !child.seemsBlocked(hedgeMs)) {
        return await first;
      }
      return await Promise.any([
        first,
        this.#requestAlone(method, params, either),
      ]);
    } catch (error) {
      throw error instanceof AggregateError ? error.errors.at(-1) : error;
    } finally {
      loser.abort();
    }
  }

  async #requestAlone(
    method: string,
    params: JsonObject,
    call: RpcCall,
  ): Promise<JsonValue> {
    return await this.#alone.run(call.signal, async () => {
      const child = await this.#spawn();
      try {
        return await child.request(method, params, call);
      } finally {
        child.stop();
      }
    });
  }

  #restartIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    if (this.#closed) return;
    const timer = setTimeout(() => {
      const current = this.#current;
      if (current !== undefined && current.load === 0) current.stop();
      else if (current !== undefined) this.#restartIdleTimer();
    }, this.#options.times.idleMs);
    // Waiting for idleness must not keep the process alive.
    Deno.unrefTimer(timer);
    this.#idleTimer = timer;
  }
}

function busy(): BridgeError {
  return new BridgeError("UPSTREAM_UNAVAILABLE", "CUO is busy", {
    retryAfterSeconds: 1,
  });
}

function resting(waitMs: number): BridgeError {
  const seconds = Math.ceil(waitMs / 1000);
  return new BridgeError("UPSTREAM_UNAVAILABLE", "CUO keeps failing", {
    retryAfterSeconds: seconds,
    hint:
      `Call again in ${seconds} seconds. If it stays so, the operator must look at cyberos-cuo's messages in the bridge's log.`,
  });
}

function closed(): BridgeError {
  return new BridgeError("SHUTTING_DOWN", "The bridge is shutting down");
}
