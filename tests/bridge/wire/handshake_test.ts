/** The handshake: one revision, clients of several. */
import assert from "node:assert/strict";
import { Harness, type Loose } from "../../support/bridge_harness.ts";

function initialize(
  harness: Harness,
  params: Record<string, unknown>,
): Promise<Loose> {
  return harness.request("initialize", {
    capabilities: {},
    clientInfo: { name: "test", version: "0.1.0" },
    ...params,
  });
}

Deno.test("P2-AC01 initialize answers protocol version 2025-11-25 and names the bridge", async () => {
  const { result } = await initialize(new Harness(), {
    protocolVersion: "2025-11-25",
  });
  assert.equal(result.protocolVersion, "2025-11-25");
  assert.equal(result.serverInfo.name, "cyberos-mcp-bridge");
  assert.equal(result.serverInfo.version, "1.0.0");
});

Deno.test("P2-AC23 initialize answers only the capabilities that the bridge has", async () => {
  const { result } = await initialize(new Harness(), {
    protocolVersion: "2025-11-25",
    capabilities: { sampling: {}, elicitation: {}, roots: {} },
  });
  assert.deepEqual(Object.keys(result.capabilities).sort(), [
    "logging",
    "tasks",
    "tools",
  ]);
  assert.deepEqual(result.capabilities.tools, { listChanged: false });
});

Deno.test("TASK-03 the declared task capabilities are exactly what is built", async () => {
  const harness = new Harness();
  const { result } = await initialize(harness, {
    protocolVersion: "2025-11-25",
  });
  assert.deepEqual(result.capabilities.tasks, {
    list: {},
    cancel: {},
    requests: { tools: { call: {} } },
  });
  const { tools } = (await harness.request("tools/list")).result;
  const support = tools.map((tool: Loose) => [
    tool.name,
    tool.execution?.taskSupport,
  ]).filter(([, value]: Loose) => value !== undefined);
  assert.deepEqual(support, [
    ["cyberos.cuo.execute_workflow", "optional"],
    ["cyberos.skill.invoke_skill", "optional"],
  ]);
});

for (const asked of ["2024-01-01", "", "garbage", 1, null, undefined]) {
  Deno.test(`P2-AC24 P2-FM01 initialize refuses protocol version ${JSON.stringify(asked)}`, async () => {
    const { error } = await initialize(new Harness(), {
      protocolVersion: asked,
    });
    assert.equal(error.code, -32602);
    assert.equal(error.data.class, "input_validation");
    assert.match(error.data.hint, /2025-11-25/);
    assert.deepEqual(error.data.supported, ["2025-11-25"]);
  });
}

const PUBLISHED = ["2024-11-05", "2025-03-26", "2025-06-18", "2026-07-28"];

for (const asked of PUBLISHED) {
  Deno.test(`D1 a client of ${asked} is offered 2025-11-25 and decides`, async () => {
    const { result } = await initialize(new Harness(), {
      protocolVersion: asked,
    });
    assert.equal(result.protocolVersion, "2025-11-25");
  });

  Deno.test(`D1 --protocol-strict refuses ${asked}`, async () => {
    const harness = new Harness({ options: { protocolStrict: true } });
    const refused = await initialize(harness, { protocolVersion: asked });
    assert.equal(refused.error.code, -32602);
    const ours = await initialize(harness, { protocolVersion: "2025-11-25" });
    assert.equal(ours.result.protocolVersion, "2025-11-25");
  });
}

Deno.test("STD-13 server/discover is refused at once and nothing is loaded for it", async () => {
  const harness = new Harness();
  const { error } = await harness.request("server/discover", {
    _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
  });
  assert.equal(error.code, -32601);
  assert.match(error.data.hint, /2025-11-25/);
  assert.equal(harness.loads, 0);
});

Deno.test("initialize and tools/list ask for no token, no upstream and no store", async () => {
  const harness = new Harness();
  await initialize(harness, { protocolVersion: "2025-11-25" });
  await harness.request("tools/list");
  await harness.request("ping");
  assert.equal(harness.authentications, 0);
  assert.equal(harness.loads, 0);
});
