/** Spans that tests can read. */
import type { Span, SpanOptions, Telemetry } from "../../bridge/ports.ts";

/** One span as it was told. */
export interface SeenSpan {
  readonly name: string;
  readonly traceId: string;
  readonly options: SpanOptions;
  readonly attributes: Record<string, string | number | boolean>;
  ended: number;
  errorType: string | undefined;
}

/** Keeps every span. */
export class FakeTelemetry implements Telemetry {
  readonly spans: SeenSpan[] = [];
  #count = 0;

  startSpan(name: string, options: SpanOptions = {}): Span {
    const { parent } = options;
    const inherited = typeof parent === "string"
      ? /^00-([0-9a-f]{32})-[0-9a-f]{16}-0[01]$/.exec(parent)?.[1]
      : parent?.traceId;
    const traceId = inherited ?? crypto.randomUUID().replaceAll("-", "");
    const spanId = (++this.#count).toString(16).padStart(16, "0");
    const seen: SeenSpan = {
      name,
      traceId,
      options,
      attributes: { ...options.attributes },
      ended: 0,
      errorType: undefined,
    };
    this.spans.push(seen);
    return {
      context: { traceId, spanId },
      traceparent: `00-${traceId}-${spanId}-01`,
      set: (attributes) => {
        Object.assign(seen.attributes, attributes);
      },
      end: (errorType) => {
        seen.ended++;
        seen.errorType = errorType;
      },
    };
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}
