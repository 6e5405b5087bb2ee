/**
 * How many calls run at once, in all and of one tenant, and how fast one
 * subject may call.
 */
import { BridgeError } from "../../errors.ts";
import type { Clock } from "../../ports.ts";
import type { Principal } from "../../types.ts";

/** Options of {@link createCallLimits}. */
export interface CallLimitsOptions {
  readonly clock: Clock;
  readonly maxConcurrentCalls: number;
  readonly maxConcurrentCallsPerTenant: number;
  /** Of one subject, on average; twice as many may come in one burst. */
  readonly callsPerSecond: number;
}

/**
 * Creates the limiter: it takes a place for a call and gives its release.
 *
 * Buckets are kept under a keyed hash of the caller and only until they are
 * full again: no identity outlives its request here.
 *
 * @returns A function that throws {BridgeError} `RATE_LIMITED`, `BUSY`.
 */
export function createCallLimits(
  options: CallLimitsOptions,
): (principal: Principal) => () => void {
  const rate = createRate(options.clock, options.callsPerSecond);
  const perTenant = new Map<string, number>();
  let running = 0;
  return (principal) => {
    const { tenantId } = principal;
    rate(principal);
    const ofTenant = perTenant.get(tenantId) ?? 0;
    if (running >= options.maxConcurrentCalls) {
      throw busy("The server runs as many calls as it can");
    }
    if (ofTenant >= options.maxConcurrentCallsPerTenant) {
      throw busy("Your tenant runs as many calls as it may");
    }
    running++;
    perTenant.set(tenantId, ofTenant + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      running--;
      const left = (perTenant.get(tenantId) ?? 1) - 1;
      if (left > 0) perTenant.set(tenantId, left);
      else perTenant.delete(tenantId);
    };
  };
}

function busy(message: string): BridgeError {
  return new BridgeError("BUSY", message, { retryAfterSeconds: 1 });
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const BURST_SECONDS = 2;
const SWEEP_ABOVE = 1024;

function createRate(
  clock: Clock,
  perSecond: number,
): (principal: Principal) => void {
  const buckets = new Map<number, Bucket>();
  const seed = crypto.getRandomValues(new Uint32Array(2));
  const capacity = perSecond * BURST_SECONDS;
  let sweptAtMs = clock.now();
  return ({ tenantId, subject }) => {
    const now = clock.now();
    if (buckets.size > SWEEP_ABOVE && now - sweptAtMs > BURST_SECONDS * 1000) {
      sweptAtMs = now;
      sweep(buckets, now);
    }
    const name = hash(`${tenantId} ${subject}`, seed);
    const bucket = buckets.get(name) ?? { tokens: capacity, atMs: now };
    const gained = Math.max(0, now - bucket.atMs) * perSecond / 1000;
    bucket.tokens = Math.min(capacity, bucket.tokens + gained);
    bucket.atMs = now;
    buckets.set(name, bucket);
    if (bucket.tokens < 1) {
      throw new BridgeError("RATE_LIMITED", "Too many calls in a short time", {
        retryAfterSeconds: Math.max(
          1,
          Math.ceil((1 - bucket.tokens) / perSecond),
        ),
      });
    }
    bucket.tokens -= 1;
  };
}

/** A bucket that has had time to fill up says nothing any more. */
function sweep(buckets: Map<number, Bucket>, now: number): void {
  for (const [name, { atMs }] of buckets) {
    if (now - atMs > BURST_SECONDS * 1000) buckets.delete(name);
  }
}

/** 52 bits of two multiplicative hashes, seeded so that nobody can aim at another's bucket. */
function hash(text: string, seed: Uint32Array): number {
  let low = seed[0] ?? 0;
  let high = seed[1] ?? 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 2654435761);
    high = Math.imul(high ^ unit, 1597334677);
    low ^= low >>> 15;
    high ^= high >>> 13;
  }
  return (high >>> 12) * 2 ** 32 + (low >>> 0);
}
