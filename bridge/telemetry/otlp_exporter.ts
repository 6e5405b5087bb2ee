/** OTLP over HTTP/protobuf with `fetch`. */
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { TraceContext } from "../types.ts";
import type { SendSpans } from "./span_queue.ts";
import type { AttributeValue, SpanRecord } from "./span_record.ts";

/** Where spans go. */
export interface OtlpExporterOptions {
  /** The collector's whole traces URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Resource attributes, `service.name` among them. */
  readonly resource: Readonly<Record<string, AttributeValue>>;
}

const KINDS = { internal: 0, server: 1, client: 2 } as const;

/**
 * Creates the sender. The serializer is imported with the first batch: it costs
 * more to load than the rest of the bridge.
 *
 * Source: OTLP specification 1.x, "OTLP/HTTP", binary protobuf encoding.
 */
export function createOtlpSender(options: OtlpExporterOptions): SendSpans {
  const resource = { attributes: { ...options.resource } };
  return async (batch, signal) => {
    try {
      const { ProtobufTraceSerializer } = await import(
        "@opentelemetry/otlp-transformer"
      );
      const spans = batch.map((span) => readable(span, resource));
      const body = ProtobufTraceSerializer.serializeRequest(spans);
      if (body === undefined) return false;
      const response = await fetch(options.url, {
        method: "POST",
        // A redirect could carry the headers' credentials to another host.
        redirect: "manual",
        headers: {
          ...options.headers,
          "content-type": "application/x-protobuf",
        },
        body: body as Uint8Array<ArrayBuffer>,
        signal,
      });
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    }
  };
}

function hrTime(epochMs: number): [number, number] {
  const seconds = Math.floor(epochMs / 1000);
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
}

function flagged({ traceId, spanId }: TraceContext) {
  return { traceId, spanId, traceFlags: 1 };
}

function readable(
  span: SpanRecord,
  resource: { attributes: Record<string, AttributeValue> },
) {
  const failed = span.errorType !== undefined;
  const view = {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => flagged(span.context),
    parentSpanContext: span.parent && {
      ...flagged(span.parent.context),
      isRemote: span.parent.remote,
    },
    startTime: hrTime(span.startMs),
    endTime: hrTime(span.endMs),
    duration: hrTime(span.endMs - span.startMs),
    status: { code: failed ? 2 : 0 },
    attributes: failed
      ? { ...span.attributes, "error.type": span.errorType }
      : span.attributes,
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope: { name: "cyberos-mcp-bridge" },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
  // The serializer reads only the members above.
  return view as unknown as ReadableSpan;
}
