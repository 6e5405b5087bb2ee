/** The tracer: light spans in the request path, export far away from it. */
import type { Clock, Span, SpanOptions, Telemetry } from "../ports.ts";
import type { TraceContext } from "../types.ts";
import type { Sampler } from "./sampler.ts";
import type { AttributeValue, SpanRecord } from "./span_record.ts";
import {
  formatTraceparent,
  IdSource,
  parseTraceparent,
} from "./trace_context.ts";

/** Where finished spans go, and how long the last ones may take. */
export interface SpanSink {
  push(span: SpanRecord): void;
  close(timeoutMs: number): Promise<void>;
}

/** What {@link createTelemetry} needs. Without a sink, spans only carry ids. */
export interface TelemetryOptions {
  readonly clock: Clock;
  readonly sink?: SpanSink;
  readonly sampler?: Sampler;
}

const MAX_ATTRIBUTES = 64;
const MAX_VALUE_LENGTH = 256;

/** Creates the tracer. Nothing is imported, sent or timed until a span ends. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const ids = new IdSource();
  const sampler: Sampler = options.sampler ??
    ((_, parentSampled) => parentSampled ?? true);
  return {
    startSpan(name, spanOptions = {}) {
      return new RecordingSpan(name, spanOptions, { ...options, ids, sampler });
    },
    shutdown: (timeoutMs) =>
      options.sink?.close(timeoutMs) ?? Promise.resolve(),
  };
}

interface SpanDeps extends TelemetryOptions {
  readonly ids: IdSource;
  readonly sampler: Sampler;
}

class RecordingSpan implements Span {
  readonly context: TraceContext;
  readonly sampled: boolean;
  readonly #name: string;
  readonly #options: SpanOptions;
  readonly #deps: SpanDeps;
  readonly #parent: SpanRecord["parent"];
  readonly #startMs: number;
  readonly #started: number;
  readonly #attributes: Record<string, AttributeValue> = {};
  #ended = false;

  constructor(name: string, options: SpanOptions, deps: SpanDeps) {
    const parent = parentOf(options.parent);
    this.#name = name;
    this.#options = options;
    this.#deps = deps;
    this.#parent = parent?.link;
    const traceId = parent?.link.context.traceId ?? deps.ids.traceId();
    this.sampled = deps.sampler(traceId, parent?.sampled);
    this.context = {
      traceId,
      spanId: deps.ids.spanId(),
      sampled: this.sampled,
    };
    this.#startMs = deps.clock.now();
    this.#started = performance.now();
    if (options.attributes !== undefined) this.set(options.attributes);
  }

  get traceparent(): string {
    return formatTraceparent(this.context, this.sampled);
  }

  set(attributes: Readonly<Record<string, AttributeValue>>): void {
    if (!this.sampled || this.#deps.sink === undefined) return;
    for (const [key, value] of Object.entries(attributes)) {
      if (Object.keys(this.#attributes).length >= MAX_ATTRIBUTES) return;
      this.#attributes[key] = typeof value === "string"
        ? value.slice(0, MAX_VALUE_LENGTH)
        : value;
    }
  }

  end(errorType?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    if (!this.sampled || this.#deps.sink === undefined) return;
    this.#deps.sink.push({
      name: this.#name,
      kind: this.#options.kind ?? "internal",
      context: this.context,
      parent: this.#parent,
      startMs: this.#startMs,
      endMs: this.#startMs + (performance.now() - this.#started),
      attributes: this.#attributes,
      errorType,
    });
  }
}

function parentOf(
  parent: SpanOptions["parent"],
):
  | { link: NonNullable<SpanRecord["parent"]>; sampled: boolean | undefined }
  | undefined {
  if (parent === undefined) return undefined;
  if (typeof parent !== "string") {
    return {
      link: { context: parent, remote: false },
      sampled: parent.sampled,
    };
  }
  const remote = parseTraceparent(parent);
  if (remote === undefined) return undefined;
  const context = { traceId: remote.traceId, spanId: remote.spanId };
  return { link: { context, remote: true }, sampled: remote.sampled };
}
