/** Trace ids for answers that open no span. */

// W3C Trace Context §3.2: version, trace-id, parent-id, flags; all-zero ids are
// invalid, and so is what stands behind the flags of version 00.
const TRACEPARENT =
  /^(?!ff|00-.{53}|.{513})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/**
 * The trace id that the caller's `traceparent` names, or a new one.
 *
 * @returns 32 lower-case hex digits.
 */
export function traceIdOf(traceparent: string | undefined): string {
  return (traceparent === undefined
    ? undefined
    : TRACEPARENT.exec(traceparent)?.[1]) ?? newTraceId();
}

function newTraceId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
