/** W3C Trace Context, level 1: the `traceparent` header. */
import type { TraceContext } from "../types.ts";

const TRACEPARENT =
  /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** A parsed `traceparent`. */
export interface RemoteParent extends TraceContext {
  /** Whether the caller records its own spans. */
  readonly sampled: boolean;
}

/**
 * Reads a `traceparent`, or `undefined` where it is malformed: a caller's bad
 * header starts a new trace and never fails the call.
 *
 * Source: W3C Trace Context §3.2.
 */
export function parseTraceparent(
  header: string | undefined,
): RemoteParent | undefined {
  if (header === undefined || header.length > 512) return undefined;
  const match = TRACEPARENT.exec(header);
  if (match === null) return undefined;
  const [, version, traceId, spanId, flags, rest] =
    match as unknown as string[];
  if (version === "ff" || (version === "00" && rest !== undefined)) {
    return undefined;
  }
  if (/^0+$/.test(traceId as string) || /^0+$/.test(spanId as string)) {
    return undefined;
  }
  return {
    traceId: traceId as string,
    spanId: spanId as string,
    sampled: (Number.parseInt(flags as string, 16) & 1) === 1,
  };
}

/** Writes the `traceparent` that names the span as parent. */
export function formatTraceparent(
  context: TraceContext,
  sampled: boolean,
): string {
  return `00-${context.traceId}-${context.spanId}-${sampled ? "01" : "00"}`;
}

const HEX: readonly string[] = Array.from(
  { length: 256 },
  (_, n) => n.toString(16).padStart(2, "0"),
);

/** Random ids are cut from one block, because asking the system for 8 bytes costs as much as for 4 KiB. */
export class IdSource {
  readonly #block = new Uint8Array(4096);
  #next = 4096;

  /** A random W3C trace id, never all zero. */
  traceId(): string {
    return this.#hex(16);
  }

  /** A random W3C span id, never all zero. */
  spanId(): string {
    return this.#hex(8);
  }

  #hex(bytes: number): string {
    if (this.#next + bytes > this.#block.length) {
      crypto.getRandomValues(this.#block);
      this.#next = 0;
    }
    let text = "";
    let any = 0;
    const end = this.#next + bytes;
    for (; this.#next < end; this.#next++) {
      const byte = this.#block[this.#next] as number;
      any |= byte;
      text += HEX[byte];
    }
    return any === 0 ? this.#hex(bytes) : text;
  }
}
