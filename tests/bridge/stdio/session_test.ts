/** The life of a connection: handshake, ids in flight, cancellation, the end. */
import assert from "node:assert/strict";
import { BridgeError } from "../../../bridge/errors.ts";
import { untilAborted } from "../../../bridge/wire/deadline.ts";
import { type Loose, principal, RUN } from "../../support/bridge_harness.ts";
import { StdioClient } from "../../support/stdio_client.ts";
import { TENANT_A, TENANT_B } from "../../support/tokens.ts";

const ROUTE = { query: "x" };

/** Makes cuo.route wait for the test, and hear an abort. */
function slowRoute(client: StdioClient): { open(): void } {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  client.harness.upstreams.behaviours.set(
    "cuo.route",
    (_, { signal }) => untilAborted(promise, signal),
  );
  return { open: () => resolve({ confidence: 0, alternates: [] }) };
}

function routeCall(id: unknown): Loose {
  return {
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "cyberos.cuo.route", arguments: ROUTE },
  };
}

Deno.test("STD-15 requests before initialize, ping at any time, a second initialize", async () => {
  const client = new StdioClient();
  assert.deepEqual((await client.request("ping")).result, {});
  const early = await client.request("tools/list");
  assert.equal(early.error.code, -32600);
  assert.equal(early.error.data.class, "input_validation");
  assert.match(early.error.data.hint, /initialize first/);
  assert.equal((await client.initialize()).result.serverInfo.version, "1.0.0");
  const again = await client.initialize();
  assert.equal(again.error.code, -32600);
  const { result } = await client.request("tools/list");
  assert.equal(result.tools.length, 8);
  await client.close();
});

Deno.test("STD-13 server/discover and a stray notification leave the handshake untouched", async () => {
  const client = new StdioClient();
  client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  const probe = await client.request("server/discover", {
    _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" },
  });
  assert.equal(probe.error.code, -32601);
  assert.ok((await client.initialize()).result);
  await client.close();
});

Deno.test("P2-AC24 a refused initialize leaves the session to try again", async () => {
  const client = new StdioClient();
  const refused = await client.request("initialize", {
    protocolVersion: "2024-01-01",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  });
  assert.equal(refused.error.code, -32602);
  assert.equal((await client.request("tools/list")).error.code, -32600);
  assert.ok((await client.initialize()).result);
  await client.close();
});

Deno.test('STD-09 ids 1 and "1" are two requests in flight, each answered with its own type', async () => {
  const client = new StdioClient();
  await client.initialize();
  const gate = slowRoute(client);
  client.send(routeCall(1));
  client.send(routeCall("1"));
  gate.open();
  assert.ok((await client.answerTo(1)).result);
  assert.ok((await client.answerTo("1")).result);
  await client.close();
});

Deno.test("STD-28 a cancelled request is aborted at once and never answered", async () => {
  const client = new StdioClient();
  await client.initialize();
  slowRoute(client);
  client.send(routeCall(101));
  await client.settled();
  const cancel = (requestId: unknown) =>
    client.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId, reason: "stop" },
    });
  for (const other of [999, "101", null, {}, undefined, "c-1"]) cancel(other);
  await client.settled();
  assert.equal(client.harness.upstreams.calls[0]?.signal.aborted, false);
  const begun = performance.now();
  cancel(101);
  await client.settled();
  assert.ok(client.harness.upstreams.calls[0]?.signal.aborted);
  assert.ok(performance.now() - begun < 100);
  const [span] = client.harness.telemetry.spans;
  assert.equal(span?.attributes["cyberos.outcome"], "cancelled");
  await client.close();
  assert.ok(!client.received.some(({ id }) => id === 101));
});

Deno.test("STD-28 a request cancelled while its token is judged never reaches an upstream", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const client = new StdioClient({
    authenticate: async () => {
      await promise;
      return principal();
    },
  });
  await client.initialize();
  client.send(routeCall(5));
  client.send({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 5 },
  });
  await client.settled();
  resolve();
  await client.settled();
  await client.close();
  assert.deepEqual(client.harness.upstreams.calls, []);
  assert.ok(!client.received.some(({ id }) => id === 5));
});

Deno.test("STD-28 a cancelled request is not even refused", async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  const client = new StdioClient({ authenticate: () => promise });
  await client.initialize();
  for (const [id, method] of [[5, "tools/call"], [6, "tasks/list"]] as const) {
    client.send({ ...routeCall(id), method });
    client.send({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: id },
    });
  }
  await client.settled();
  reject(new BridgeError("TOKEN_EXPIRED", "Token expired"));
  await client.settled();
  await client.close();
  assert.ok(!client.received.some(({ id }) => id === 5 || id === 6));
});

Deno.test("STD-29 an id in use is refused and its first request goes on; afterwards it is free again", async () => {
  const client = new StdioClient();
  await client.initialize();
  const gate = slowRoute(client);
  client.send(routeCall(5));
  client.sendText('{"jsonrpc":"2.0","id":5,"method":"tools/list"}\n');
  const second = await client.answerTo(5);
  assert.equal(second.error.code, -32600);
  client.send(routeCall(5));
  await client.settled();
  const refused = client.received.filter(({ id }) => id === 5);
  assert.deepEqual(refused.map(({ error }) => error.code), [-32600, -32600]);
  gate.open();
  await client.until(() =>
    client.received.filter(({ id }) => id === 5).length === 3
  );
  assert.ok(client.received.at(-1).result.structuredContent);
  client.send(routeCall(5));
  await client.until(() =>
    client.received.filter(({ id }) => id === 5).length === 4
  );
  await client.close();
});

Deno.test("requests beyond the bound are BUSY at once; ping and cancellation still work", async () => {
  const client = new StdioClient({ serve: { maxInFlight: 2 } });
  await client.initialize();
  const gate = slowRoute(client);
  client.send(routeCall(1));
  client.send(routeCall(2));
  client.send(routeCall(3));
  const { error } = await client.answerTo(3);
  assert.equal(error.code, -32001);
  assert.match(error.message, /Too many requests/);
  client.send({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 1 },
  });
  await client.settled();
  client.send(routeCall(4));
  gate.open();
  assert.ok((await client.answerTo(4)).result);
  await client.close();
});

Deno.test("D4 on stdio only tools/call and tasks/* ask for the token, each request anew", async () => {
  let tokens = 0;
  const client = new StdioClient({
    authenticate: () => {
      tokens++;
      return Promise.resolve(principal({
        tenantId: tokens === 1 ? TENANT_A : TENANT_B,
      }));
    },
  });
  await client.initialize();
  await client.request("tools/list");
  await client.request("logging/setLevel", { level: "error" });
  await client.settled();
  assert.equal(tokens, 0);
  await client.tool("cyberos.cuo.route", ROUTE);
  await client.tool("cyberos.cuo.route", ROUTE);
  await client.request("tasks/list");
  assert.equal(tokens, 3);
  const tenants = client.harness.upstreams.calls.map((call) => call.tenantId);
  assert.deepEqual(tenants, [TENANT_A, TENANT_B]);
  await client.close();
});

Deno.test("D4 without a token a call says how to sign in, and the list is there all the same", async () => {
  const client = new StdioClient({
    authenticate: () =>
      Promise.reject(new BridgeError("TOKEN_MISSING", "No token")),
  });
  await client.initialize();
  assert.equal((await client.request("tools/list")).result.tools.length, 8);
  const { error } = await client.tool("cyberos.cuo.route", ROUTE);
  assert.equal(error.data.class, "authz_denied");
  assert.match(error.data.hint, /Sign in/);
  await client.close();
});

Deno.test("at the end of input, requests that are nearly done are still answered", async () => {
  const client = new StdioClient();
  await client.initialize();
  const gate = slowRoute(client);
  client.send(routeCall(1));
  client.end();
  setTimeout(gate.open, 20);
  await client.served;
  assert.ok((await client.answerTo(1)).result);
});

Deno.test("at the end of input, a request that hangs is aborted and answered, within two seconds", async () => {
  const client = new StdioClient({ serve: { graceMs: 20 } });
  await client.initialize();
  client.harness.upstreams.behaviours.set(
    "cuo.route",
    () => new Promise(() => {}),
  );
  client.send(routeCall(1));
  await client.settled();
  const begun = performance.now();
  await client.close();
  assert.ok(performance.now() - begun < 1000);
  assert.ok(client.harness.upstreams.calls[0]?.signal.aborted);
  const { error } = await client.answerTo(1);
  assert.equal(error.code, -32001);
  assert.match(error.message, /shutting down/);
});

Deno.test("a signal ends the connection at once, though a read is pending", async () => {
  const client = new StdioClient();
  await client.initialize();
  slowRoute(client);
  client.send(routeCall(1));
  await client.settled();
  const begun = performance.now();
  client.stop.abort();
  await client.served;
  assert.ok(performance.now() - begun < 1000);
  assert.ok(client.harness.upstreams.calls[0]?.signal.aborted);
});

Deno.test("a host that closes its end of stdout ends the connection and aborts the work", async () => {
  const client = new StdioClient();
  await client.initialize();
  slowRoute(client);
  client.send(routeCall(1));
  await client.settled();
  client.brokenPipe = true;
  client.send({ jsonrpc: "2.0", id: 2, method: "ping" });
  await client.served;
  assert.ok(client.harness.upstreams.calls[0]?.signal.aborted);
});

Deno.test("a stdout that never takes its bytes does not hold up the end", async () => {
  const client = new StdioClient({ serve: { graceMs: 10 } });
  await client.initialize();
  client.gate = new Promise(() => {});
  client.send({ jsonrpc: "2.0", id: 2, method: "ping" });
  client.end();
  const begun = performance.now();
  await client.served;
  assert.ok(performance.now() - begun < 2000);
});

Deno.test("a host that reads nothing is not read from either, so that no answers pile up", async () => {
  const client = new StdioClient();
  await client.initialize();
  const { promise, resolve } = Promise.withResolvers<void>();
  client.gate = promise;
  const big = { confidence: 0, alternates: [], rationale: "x".repeat(1e6) };
  client.harness.upstreams.behaviours.set("cuo.route", () => big);
  for (let id = 0; id < 200; id++) client.send(routeCall(id));
  for (let turn = 0; turn < 50; turn++) {
    await new Promise((next) => setTimeout(next, 1));
  }
  const reached = client.harness.upstreams.calls.length;
  assert.ok(reached < 60, `${reached} calls ran`);
  resolve();
  await client.answerTo(199);
  await client.close();
});

Deno.test("the work of a task outlives the connection's requests but hears no more of it", async () => {
  const client = new StdioClient();
  await client.initialize();
  const { result } = await client.tool("cyberos.cuo.execute_workflow", RUN);
  assert.equal(result.structuredContent.status, "running");
  await client.close();
  await client.harness.tasks.idle();
  const view = await client.harness.tasks.get(
    principal(),
    result.structuredContent.task_id,
  );
  assert.equal(view.status, "completed");
});
