/** A small OTLP/HTTP collector that decodes what it gets with protobufjs, a decoder of another house. */
import protobuf from "protobufjs";

// The part of opentelemetry/proto/trace/v1/trace.proto that the tests look at.
const PROTO = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { InstrumentationScope scope = 1; repeated Span spans = 2; }
message InstrumentationScope { string name = 1; string version = 2; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4;
  string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; Status status = 15;
}
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
`;

const REQUEST = protobuf.parse(PROTO, { keepCase: true }).root.lookupType(
  "ExportTraceServiceRequest",
);

/** A span as the collector read it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly statusCode: number;
  readonly durationMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A running collector. */
export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: CollectedSpan[];
  readonly requests: { readonly headers: Headers; readonly bytes: number }[];
  /** What it answers; 200 at first. */
  status: number;
}

/** Starts a collector on a free port. */
export function startCollector(): Collector {
  const spans: CollectedSpan[] = [];
  const requests: { headers: Headers; bytes: number }[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const body = new Uint8Array(await request.arrayBuffer());
      requests.push({ headers: request.headers, bytes: body.length });
      if (collector.status === 200) spans.push(...decode(body));
      return new Response(null, { status: collector.status });
    },
  );
  const collector: Collector = {
    url: `http://127.0.0.1:${server.addr.port}`,
    spans,
    requests,
    status: 200,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return collector;
}

type Plain = Record<string, unknown>;

function decode(body: Uint8Array): CollectedSpan[] {
  const message = REQUEST.toObject(REQUEST.decode(body), {
    longs: String,
    bytes: Array,
    defaults: true,
    arrays: true,
  });
  return (message.resource_spans as Plain[]).flatMap((group) => {
    const resource = attributes(
      (group.resource as Plain).attributes as Plain[],
    );
    return (group.scope_spans as Plain[]).flatMap((scope) =>
      (scope.spans as Plain[]).map((span) => collected(span, resource))
    );
  });
}

function collected(span: Plain, resource: Plain): CollectedSpan {
  const nanos = BigInt(span.end_time_unix_nano as string) -
    BigInt(span.start_time_unix_nano as string);
  return {
    traceId: hex(span.trace_id as number[]),
    spanId: hex(span.span_id as number[]),
    parentSpanId: hex(span.parent_span_id as number[]),
    name: span.name as string,
    kind: span.kind as number,
    statusCode: ((span.status ?? {}) as Plain).code as number ?? 0,
    durationMs: Number(nanos) / 1e6,
    attributes: attributes(span.attributes as Plain[]),
    resource,
  };
}

function attributes(pairs: Plain[]): Plain {
  return Object.fromEntries(pairs.map((pair) => {
    const value = pair.value as Plain;
    const kind = ["string_value", "bool_value", "int_value", "double_value"]
      .find((name) => Object.hasOwn(value, name)) as string;
    const found = value[kind];
    return [pair.key, kind === "int_value" ? Number(found) : found];
  }));
}

function hex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
