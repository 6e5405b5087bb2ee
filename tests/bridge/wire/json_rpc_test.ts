/** JSON-RPC 2.0 to the letter, as MCP 2025-11-25 narrows it. */
import assert from "node:assert/strict";
import { CONFIRMED, Harness } from "../../support/bridge_harness.ts";

const PING = { jsonrpc: "2.0", method: "ping" };

for (const id of [0, "", "1", 1, -1, 9007199254740991, "𝄞"]) {
  Deno.test(`STD-09 id ${JSON.stringify(id)} comes back as it was sent`, async () => {
    const response = await new Harness().send({ ...PING, id });
    assert.deepEqual(response, { jsonrpc: "2.0", id, result: {} });
  });
}

Deno.test("STD-09 an integer written as 1.0 is the integer 1", async () => {
  const harness = new Harness();
  const answer = await harness.protocol.handle(
    JSON.parse('{"jsonrpc":"2.0","id":1.0,"method":"ping"}'),
    harness.exchange(),
  );
  assert.equal(answer?.response.id, 1);
});

const NO_IDS: readonly unknown[] = [
  null,
  true,
  [1],
  {},
  1.5,
  9007199254740993,
  "x".repeat(2000),
];

for (const id of NO_IDS) {
  Deno.test(`STD-10 STD-09 id ${JSON.stringify(id).slice(0, 30)} is refused with id null and nothing runs`, async () => {
    const harness = new Harness();
    const response = await harness.send({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "cyberos.cuo.list_personas" },
    });
    assert.equal(response.id, null);
    assert.equal(response.error.code, -32600);
    assert.deepEqual(harness.upstreams.calls, []);
  });
}

for (const value of ["just a string", 42, null, true, []]) {
  Deno.test(`STD-06 the JSON value ${JSON.stringify(value)} is an invalid request, not a crash`, async () => {
    const response = await new Harness().send(value);
    assert.equal(response.id, null);
    assert.equal(response.error.code, -32600);
  });
}

for (
  const [title, message] of [
    ["{}", {}],
    ['"jsonrpc": "1.0"', { ...PING, jsonrpc: "1.0", id: 1 }],
    ["no jsonrpc", { id: 1, method: "ping" }],
    ["a method that is no text", { jsonrpc: "2.0", id: 1, method: 5 }],
  ] as const
) {
  Deno.test(`HTTP-06 ${title} is -32600`, async () => {
    const response = await new Harness().send(message);
    assert.equal(response.error.code, -32600);
    assert.equal(response.id, "id" in message ? 1 : null);
  });
}

const BATCHES: readonly (readonly unknown[])[] = [
  [],
  [{ ...PING, id: 1 }],
  [{ jsonrpc: "2.0", method: "notifications/initialized" }],
  [{ ...PING, id: 1 }, {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: {
      name: "cyberos.memory.append_audit",
      arguments: { kind: "decision", body: {} },
      _meta: CONFIRMED,
    },
  }],
];

for (const [index, batch] of BATCHES.entries()) {
  Deno.test(`STD-14 batch ${index + 1} is refused whole with one -32600`, async () => {
    const harness = new Harness();
    const response = await harness.send(batch);
    assert.equal(response.id, null);
    assert.equal(response.error.code, -32600);
    assert.match(response.error.data.hint, /one message per line or request/i);
    assert.deepEqual(harness.upstreams.calls, []);
  });
}

const NOTIFICATIONS: readonly Record<string, unknown>[] = [
  { method: "notifications/initialized" },
  { method: "notifications/roots/list_changed" },
  { method: "notifications/x-made-up", params: { a: 1 } },
  { method: "notifications/cancelled", params: { requestId: {} } },
  { method: "notifications/cancelled" },
  { method: "notifications/progress", params: [] },
  { method: "notifications/initialized", params: 5 },
  { method: "ping" },
  { method: "" },
];

for (const notification of NOTIFICATIONS) {
  Deno.test(`STD-11 notification ${JSON.stringify(notification)} is not answered`, async () => {
    const harness = new Harness();
    const answer = await harness.answer({ jsonrpc: "2.0", ...notification });
    assert.equal(answer, undefined);
    const pong = await harness.request("ping");
    assert.deepEqual(pong.result, {});
  });
}

Deno.test("STD-12 tools/call without an id runs nothing and asks for no token", async () => {
  const harness = new Harness();
  const params = {
    name: "cyberos.memory.append_audit",
    arguments: { kind: "decision", body: {} },
    _meta: CONFIRMED,
  };
  const message = { jsonrpc: "2.0", method: "tools/call", params };
  assert.equal(await harness.answer(message), undefined);
  assert.equal(harness.authentications, 0);
  assert.deepEqual(harness.upstreams.calls, []);
  // The control: the same call with an id runs.
  await harness.send({ ...message, id: 1 });
  assert.deepEqual(harness.upstreams.methods, ["memory.appendAudit"]);
});

for (
  const message of [
    { jsonrpc: "2.0", id: 7, result: {} },
    { jsonrpc: "2.0", id: 7, error: { code: 1, message: "x" } },
    { jsonrpc: "2.0", id: null, error: { code: 1, message: "x" } },
  ]
) {
  Deno.test(`HTTP-06 a response nobody asked for is not answered: ${JSON.stringify(message)}`, async () => {
    assert.equal(await new Harness().answer(message), undefined);
  });
}

for (
  const method of [
    "resources/list",
    "prompts/list",
    "completion/complete",
    "tools/call ",
    "__proto__",
    "constructor",
    "notifications/initialized",
    "",
    "x".repeat(10_000),
  ]
) {
  Deno.test(`an unknown method is -32601: ${method.slice(0, 30)}`, async () => {
    const { error } = await new Harness().request(method);
    assert.equal(error.code, -32601);
    assert.ok(error.message.length < 200);
  });
}

Deno.test("params that are no object are -32602, params null are none", async () => {
  const harness = new Harness();
  for (const params of [[], "x", 5, true]) {
    const response = await harness.send({ ...PING, id: 1, params });
    assert.equal(response.error.code, -32602);
    assert.equal(response.id, 1);
  }
  const response = await harness.send({ ...PING, id: 1, params: null });
  assert.deepEqual(response.result, {});
});

Deno.test("D3 an error carries the trace id of the caller's traceparent, from header or _meta", async () => {
  const harness = new Harness();
  const trace = "0af7651916cd43dd8448eb211c80319c";
  const traceparent = `00-${trace}-b7ad6b7169203331-01`;
  const byHeader = await harness.request("nope", {}, { traceparent });
  assert.equal(byHeader.error.data.trace_id, trace);
  const byMeta = await harness.request("nope", { _meta: { traceparent } });
  assert.equal(byMeta.error.data.trace_id, trace);
  const zero = `00-${"0".repeat(32)}-b7ad6b7169203331-01`;
  const malformed = await harness.request("nope", {}, { traceparent: zero });
  assert.notEqual(malformed.error.data.trace_id, "0".repeat(32));
});
