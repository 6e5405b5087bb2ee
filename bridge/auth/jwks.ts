/**
 * The issuer's keys over HTTP.
 *
 * A set is used for five minutes at most and fetched ahead of that, so that no
 * caller waits for it. Refetches for tokens that no key verifies come from a
 * small bucket: a rotated key is picked up at once, yet a stranger's garbage
 * cannot make this a flood towards the issuer.
 *
 * Source: PRODUCT decision D4; RFC 7517 §5; OpenID Connect Core §10.1.1.
 */
import { BridgeError } from "../errors.ts";
import type { Clock } from "../ports.ts";
import type { DependencyStatus } from "../types.ts";
import { fetchText } from "./fetch_text.ts";
import type { KeySource, RefetchedKeys } from "./key_source.ts";
import type { VerificationKey } from "./verification_key.ts";

/** Options of {@link createRemoteKeys}. */
export interface RemoteKeysOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly fetch?: typeof fetch;
  /** For the whole fetch, body included. */
  readonly timeoutMs?: number;
  /** At most five minutes, which is the default. */
  readonly maxAgeMs?: number;
}

const FIVE_MINUTES_MS = 300_000;
const AHEAD_SHARE = 0.8;
const MAX_DOCUMENT_BYTES = 512 * 1024;
const REFETCH_BURST = 2;
const REFETCH_EVERY_MS = 10_000;
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 10_000;

/** Creates the source; fetches nothing until it is asked. */
export function createRemoteKeys(options: RemoteKeysOptions): KeySource {
  return new RemoteKeys(options);
}

class RemoteKeys implements KeySource {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #fetch: typeof fetch;
  readonly #timeoutMs: number;
  readonly #maxAgeMs: number;
  #keys: readonly VerificationKey[] = [];
  #fetchedAtMs = Number.NEGATIVE_INFINITY;
  #running: Promise<readonly VerificationKey[]> | undefined;
  #failures = 0;
  #blockedUntilMs = Number.NEGATIVE_INFINITY;
  #tokens = REFETCH_BURST;
  #refilledAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RemoteKeysOptions) {
    this.#url = options.url;
    this.#clock = options.clock;
    this.#fetch = options.fetch ?? fetch;
    this.#timeoutMs = options.timeoutMs ?? 5_000;
    this.#maxAgeMs = Math.min(
      options.maxAgeMs ?? FIVE_MINUTES_MS,
      FIVE_MINUTES_MS,
    );
  }

  current(
    signal?: AbortSignal,
  ): readonly VerificationKey[] | Promise<readonly VerificationKey[]> {
    const now = this.#clock.now();
    const ageMs = now - this.#fetchedAtMs;
    if (ageMs >= this.#maxAgeMs) return this.#load(now, signal);
    if (ageMs >= this.#maxAgeMs * AHEAD_SHARE) {
      // Its failure is nobody's yet: the present set still serves.
      this.#load(now).catch(() => {});
    }
    return this.#keys;
  }

  async refetch(signal?: AbortSignal): Promise<RefetchedKeys> {
    const now = this.#clock.now();
    if (this.#running) return { keys: await this.#load(now, signal) };
    const waitMs = this.#takeToken(now);
    if (waitMs > 0) {
      return { keys: this.#keys, retryAfterSeconds: toSeconds(waitMs) };
    }
    return { keys: await this.#load(now, signal) };
  }

  async status(signal: AbortSignal): Promise<DependencyStatus> {
    const name = "token issuer keys";
    try {
      const keys = await this.current(signal);
      if (keys.length > 0) return { name, state: "ok" };
      return { name, state: "down", detail: "The key set has no usable key" };
    } catch {
      return {
        name,
        state: "down",
        detail: "Cannot fetch the key set: check the JWKS URL and the network",
      };
    }
  }

  /** Takes a refetch from the bucket, or tells how long until there is one. */
  #takeToken(now: number): number {
    const gained = (now - this.#refilledAtMs) / REFETCH_EVERY_MS;
    this.#tokens = Math.min(REFETCH_BURST, this.#tokens + gained);
    this.#refilledAtMs = now;
    if (this.#tokens < 1) return (1 - this.#tokens) * REFETCH_EVERY_MS;
    this.#tokens -= 1;
    return 0;
  }

  /** One fetch at a time, shared; a caller who leaves does not end it for the others. */
  async #load(
    now: number,
    signal?: AbortSignal,
  ): Promise<readonly VerificationKey[]> {
    if (!this.#running) {
      const waitMs = this.#blockedUntilMs - now;
      if (waitMs > 0) throw unavailable(waitMs);
      this.#running = this.#fetchKeys().finally(() =>
        this.#running = undefined
      );
      this.#running.catch(() => {});
    }
    return await abortable(this.#running, signal);
  }

  async #fetchKeys(): Promise<readonly VerificationKey[]> {
    try {
      const text = await fetchText(this.#url, {
        fetch: this.#fetch,
        timeoutMs: this.#timeoutMs,
        maxBytes: MAX_DOCUMENT_BYTES,
      });
      const { parseKeySet } = await import("./key_set.ts");
      this.#keys = await parseKeySet(text);
      this.#fetchedAtMs = this.#clock.now();
      this.#failures = 0;
      return this.#keys;
    } catch (cause) {
      const waitMs = Math.min(
        FIRST_BACKOFF_MS * 2 ** this.#failures++,
        MAX_BACKOFF_MS,
      );
      this.#blockedUntilMs = this.#clock.now() + waitMs;
      throw unavailable(waitMs, cause);
    }
  }
}

function unavailable(waitMs: number, cause?: unknown): BridgeError {
  return new BridgeError(
    "KEYS_UNAVAILABLE",
    "Cannot check the token: the sign-in service's keys cannot be fetched",
    { cause, retryAfterSeconds: toSeconds(waitMs) },
  );
}

function toSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

async function abortable<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (!signal) return await work;
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
