import assert from "node:assert/strict";
import type { JsonObject } from "../../../schema/json.ts";
import type { Logger, Telemetry } from "../../../bridge/ports.ts";
import { createLogger } from "../../../bridge/telemetry/log.ts";
import { readOtelOptions } from "../../../bridge/telemetry/options.ts";
import { createOtlpSender } from "../../../bridge/telemetry/otlp_exporter.ts";
import { SpanQueue } from "../../../bridge/telemetry/span_queue.ts";
import { createTelemetry } from "../../../bridge/telemetry/telemetry.ts";
import { parseTraceparent } from "../../../bridge/telemetry/trace_context.ts";
import { startCollector } from "./collector.ts";

const CLOCK = { now: () => Date.now() };
const SERVICE = { name: "cyberos-mcp-bridge", version: "1.0.0" };

interface Entry {
  readonly event: string;
  readonly fields: JsonObject;
}

function memoryLog(): { log: Logger; entries: Entry[] } {
  const entries: Entry[] = [];
  const add = (event: string, fields: JsonObject = {}) =>
    void entries.push({ event, fields });
  return { log: { debug: add, info: add, warn: add, error: add }, entries };
}

function start(env: Record<string, string>): {
  telemetry: Telemetry;
  queue: SpanQueue;
  entries: Entry[];
} {
  const { log, entries } = memoryLog();
  const options = readOtelOptions((name) => env[name], SERVICE);
  assert.ok(options.url !== undefined);
  const send = createOtlpSender({ ...options, url: options.url });
  const queue = new SpanQueue({ ...options, send, log });
  return {
    telemetry: createTelemetry({
      clock: CLOCK,
      sink: queue,
      sampler: options.sampler,
    }),
    queue,
    entries,
  };
}

Deno.test("telemetry sends spans that another decoder reads back whole", async () => {
  await using collector = startCollector();
  const { telemetry } = start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20b",
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
  });
  const parent = telemetry.startSpan("tools/call cyberos.cuo.route", {
    kind: "server",
    attributes: {
      "cyberos.tool_name": "cyberos.cuo.route",
      "cyberos.duration_ms": 12,
      ok: true,
    },
    parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  });
  const child = telemetry.startSpan("memory read", {
    kind: "client",
    parent: parent.context,
  });
  child.end("upstream_unavailable");
  parent.end();
  await telemetry.shutdown(2000);

  const [read, call] = collector.spans;
  assert.ok(read !== undefined && call !== undefined);
  assert.equal(call.traceId, "0af7651916cd43dd8448eb211c80319c");
  assert.equal(call.parentSpanId, "b7ad6b7169203331");
  assert.equal(call.kind, 2);
  assert.equal(call.statusCode, 0);
  assert.deepEqual(call.attributes, {
    "cyberos.tool_name": "cyberos.cuo.route",
    "cyberos.duration_ms": 12,
    ok: true,
  });
  assert.equal(call.resource["service.name"], "cyberos-mcp-bridge");
  assert.equal(call.resource["deployment.environment.name"], "test");
  assert.equal(read.traceId, call.traceId);
  assert.equal(read.parentSpanId, call.spanId);
  assert.equal(read.kind, 3);
  assert.equal(read.statusCode, 2);
  assert.equal(read.attributes["error.type"], "upstream_unavailable");
  assert.ok(call.durationMs >= read.durationMs);
  assert.equal(
    collector.requests[0]?.headers.get("content-type"),
    "application/x-protobuf",
  );
  assert.equal(collector.requests[0]?.headers.get("x-key"), "a b");
});

Deno.test("P2-FM13 an unreachable collector drops spans, says so once, and harms nothing", async () => {
  const { telemetry, queue, entries } = start({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    OTEL_BSP_MAX_QUEUE_SIZE: "10",
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "100",
  });
  for (let n = 0; n < 50; n++) telemetry.startSpan("x").end();
  assert.equal(queue.dropped, 40);
  const began = performance.now();
  await telemetry.shutdown(2000);
  assert.ok(performance.now() - began < 2500);
  assert.equal(queue.dropped, 50);
  assert.deepEqual(entries.map((entry) => entry.event), [
    "telemetry.spans_dropped",
  ]);
});

Deno.test("a collector that comes back gets spans again, and the log says so", async () => {
  await using collector = startCollector();
  const { telemetry, entries } = start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1",
  });
  collector.status = 503;
  telemetry.startSpan("lost").end();
  await until(() => entries.length === 1);
  collector.status = 200;
  telemetry.startSpan("arrives").end();
  await until(() => collector.spans.length === 1);
  await telemetry.shutdown(1000);
  assert.equal(collector.spans[0]?.name, "arrives");
  assert.deepEqual(entries.map((entry) => entry.event), [
    "telemetry.spans_dropped",
    "telemetry.recovered",
  ]);
});

Deno.test("OTEL-02 shutdown ends in time when the collector accepts and never answers", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const held: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const connection of listener) held.push(connection);
  })();
  const { telemetry, queue } = start({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${listener.addr.port}`,
    OTEL_EXPORTER_OTLP_TIMEOUT: "400",
  });
  telemetry.startSpan("x").end();
  const began = performance.now();
  await telemetry.shutdown(300);
  assert.ok(performance.now() - began < 1500);
  // The request in flight ends by its own deadline; nothing of it is left behind.
  await until(() => queue.dropped === 1);
  listener.close();
  for (const connection of held) connection.close();
  await accepting;
});

Deno.test("OTEL-01 exporters that would print to stdout are refused with a warning", () => {
  const options = readOtelOptions(
    (name) =>
      ({
        OTEL_TRACES_EXPORTER: "console",
        OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
      })[name],
    SERVICE,
  );
  assert.equal(options.url, "http://127.0.0.1:4318/v1/traces");
  assert.equal(options.warnings.length, 2);
});

Deno.test("OpenTelemetry's switches and malformed variables are followed or named", () => {
  const read = (env: Record<string, string>) =>
    readOtelOptions((name) => env[name], SERVICE);
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  assert.equal(read({}).url, undefined);
  assert.equal(read({ ...on, OTEL_SDK_DISABLED: "true" }).url, undefined);
  assert.equal(read({ ...on, OTEL_TRACES_EXPORTER: "none" }).url, undefined);
  assert.equal(
    read({ ...on, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://c.example/t" })
      .url,
    "https://c.example/t",
  );
  assert.equal(read({ OTEL_EXPORTER_OTLP_ENDPOINT: "ftp://x" }).url, undefined);
  const bad = read({
    ...on,
    OTEL_EXPORTER_OTLP_HEADERS: "a=b%0D%0Ac,=x",
    OTEL_BSP_SCHEDULE_DELAY: "soon",
    OTEL_TRACES_SAMPLER: "sometimes",
    OTEL_TRACES_SAMPLER_ARG: "2",
  });
  assert.deepEqual(bad.headers, {});
  assert.equal(bad.delayMs, 5000);
  assert.equal(bad.warnings.length, 5);
});

Deno.test("samplers keep or drop a trace as a whole", async () => {
  await using collector = startCollector();
  const { telemetry } = start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.5",
  });
  for (let n = 0; n < 200; n++) {
    const root = telemetry.startSpan("root");
    telemetry.startSpan("child", { parent: root.context }).end();
    root.end();
  }
  const dropped = telemetry.startSpan("dropped", {
    parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
  });
  assert.match(dropped.traceparent, /-00$/);
  telemetry.startSpan("dropped", { parent: dropped.context }).end();
  dropped.end();
  await telemetry.shutdown(2000);
  const named = (name: string) =>
    collector.spans.filter((span) => span.name === name);
  assert.equal(named("dropped").length, 0);
  assert.equal(named("root").length, named("child").length);
  assert.ok(named("root").length > 40 && named("root").length < 160);
});

Deno.test("without a collector spans still carry ids and continue the caller's trace", async () => {
  const telemetry = createTelemetry({ clock: CLOCK });
  const span = telemetry.startSpan("x", {
    parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  });
  assert.equal(span.context.traceId, "0af7651916cd43dd8448eb211c80319c");
  assert.match(telemetry.startSpan("y").context.traceId, /^[0-9a-f]{32}$/);
  span.end();
  await telemetry.shutdown(10);
});

Deno.test("parseTraceparent() takes only what W3C Trace Context allows", () => {
  const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  assert.equal(parseTraceparent(good)?.sampled, true);
  assert.equal(parseTraceparent(`01${good.slice(2)}-more`)?.sampled, true);
  for (
    const bad of [
      "",
      good.toUpperCase(),
      `ff${good.slice(2)}`,
      `${good}-more`,
      good.replace(/-0af\w+-/, `-${"0".repeat(32)}-`),
      good.replace(/-b7a\w+-/, `-${"0".repeat(16)}-`),
      good.slice(0, -1),
      ` ${good}`,
      "x".repeat(600),
    ]
  ) assert.equal(parseTraceparent(bad), undefined, bad);
});

Deno.test("the log writes one JSON object a line, by level, and survives a closed stderr", () => {
  const lines: string[] = [];
  const options = {
    clock: { now: () => 0 },
    write: (line: string) => void lines.push(line),
  };
  const log = createLogger({ ...options, level: "info" });
  log.debug("hidden");
  log.warn("call.failed", { trace_id: "t", text: "a\nb" });
  assert.deepEqual(lines.map((line) => JSON.parse(line)), [{
    time: "1970-01-01T00:00:00.000Z",
    level: "warn",
    event: "call.failed",
    trace_id: "t",
    text: "a\nb",
  }]);
  assert.equal(lines[0]?.split("\n").length, 2);
  const off = createLogger({ ...options, level: "off" });
  off.error("x");
  assert.equal(lines.length, 1);
  const broken = createLogger({
    clock: { now: () => 0 },
    level: "debug",
    write: () => {
      throw new Deno.errors.BrokenPipe();
    },
  });
  broken.error("x");
});

async function until(condition: () => boolean): Promise<void> {
  for (let n = 0; n < 200 && !condition(); n++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok(condition());
}
