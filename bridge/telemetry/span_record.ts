/** A finished span, as plain data. */
import type { TraceContext } from "../types.ts";

/** Attribute values that the bridge records. */
export type AttributeValue = string | number | boolean;

/** What a finished span holds; the exporter turns it into OTLP. */
export interface SpanRecord {
  readonly name: string;
  readonly kind: "server" | "client" | "internal";
  readonly context: TraceContext;
  readonly parent:
    | { readonly context: TraceContext; readonly remote: boolean }
    | undefined;
  /** Epoch milliseconds, with fraction. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** `error.type` of a failed span. */
  readonly errorType: string | undefined;
}
