/** Spans of a real bridge process, read by a collector of another house. */
import assert from "node:assert/strict";
import { startCollector } from "../bridge/telemetry/collector.ts";
import { connect, runBridge } from "./bridge_process.ts";

const MARKER = "marker-7f3a";

Deno.test("P2-AC14 OTEL-04 a span for each tool call, with the tool's name and nothing of its content", async () => {
  await using collector = startCollector();
  {
    await using bridge = await connect(["--embedded", "--ephemeral"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    });
    await bridge.call("cyberos.cuo.route", { query: `board deck ${MARKER}` });
    await bridge.call("cyberos.cuo.execute_workflow", {
      persona: "chief-technology-officer",
      workflow: "adr-quick-capture",
      inputs: { decision_context: MARKER },
      wait_seconds: 30,
    });
    await assert.rejects(bridge.call(`cyberos.nope.${MARKER}`));
    await assert.rejects(
      bridge.call("cyberos.memory.append_audit", {
        kind: "decision",
        body: { MARKER },
      }),
    );
  }
  for (let n = 0; n < 100 && collector.spans.length < 4; n++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const calls = collector.spans.filter(({ name }) =>
    name.startsWith("tools/call")
  );
  const tools = calls.map(({ attributes }) => attributes["cyberos.tool_name"]);
  assert.deepEqual(tools.sort(), [
    "_unknown",
    "cyberos.cuo.execute_workflow",
    "cyberos.cuo.route",
    "cyberos.memory.append_audit",
  ]);
  for (const { attributes, traceId, resource } of calls) {
    assert.equal(attributes["cyberos.plugin_id"], "cyberos");
    assert.equal(attributes["cyberos.trace_id"], traceId);
    assert.equal(attributes["mcp.method.name"], "tools/call");
    assert.ok(typeof attributes["cyberos.duration_ms"] === "number");
    assert.equal(resource["service.name"], "cyberos-mcp-bridge");
  }
  const outcome = (tool: string) =>
    calls.find(({ attributes }) => attributes["cyberos.tool_name"] === tool)
      ?.attributes["cyberos.outcome"];
  assert.equal(outcome("cyberos.cuo.route"), "success");
  assert.equal(outcome("cyberos.memory.append_audit"), "authz_denied");
  assert.equal(outcome("_unknown"), "input_validation");
  assert.doesNotMatch(JSON.stringify(collector.spans), new RegExp(MARKER));
  const children = collector.spans.filter(({ parentSpanId }) =>
    parentSpanId !== ""
  );
  assert.ok(children.length > 0, "upstream calls have spans of their own");
});

Deno.test("OTEL-01 stdout stays the protocol's with every telemetry variable set", async () => {
  const { stdout, code } = await runBridge([], {
    stdin: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`,
    env: {
      OTEL_TRACES_EXPORTER: "console",
      OTEL_LOG_LEVEL: "debug",
      OTEL_EXPORTER_OTLP_PROTOCOL: "console",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    },
  });
  assert.equal(code, 0);
  assert.equal(stdout, `{"jsonrpc":"2.0","id":1,"result":{}}\n`);
});
