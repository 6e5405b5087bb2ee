/** Sizes, depths, rates and times over HTTP. */
import assert from "node:assert/strict";
import { createCallLimits } from "../../../bridge/transports/http/call_limits.ts";
import type { BridgeError } from "../../../bridge/errors.ts";
import { principal } from "../../support/bridge_harness.ts";
import { TENANT_B } from "../../support/tokens.ts";
import {
  PING,
  sendRaw,
  statusOf,
  TOKEN,
  tokenWith,
  toolCall,
  withBridge,
} from "./support.ts";

const HEAD =
  `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${TOKEN}\r\n`;

function padded(bytes: number): string {
  const text = JSON.stringify(PING);
  return text + " ".repeat(bytes - text.length);
}

Deno.test("HTTP-16 a body up to the limit is taken, one byte more is 413 with the limit in the hint", async () => {
  const handler = { limits: { maxBodyBytes: 5_000 } };
  await withBridge({ handler }, async ({ post }) => {
    for (const size of [4_999, 5_000]) {
      const response = await post(padded(size));
      assert.equal(response.status, 200);
      await response.body?.cancel();
    }
    const response = await post(padded(5_001));
    assert.equal(response.status, 413);
    const { error } = await response.json();
    assert.equal(error.data.class, "input_validation");
    assert.match(error.data.hint, /5000/);
    assert.match(error.data.trace_id, /^[0-9a-f]{32}$/);
  });
});

Deno.test("HTTP-16 the default limit is well above what hosts send", async () => {
  await withBridge({}, async ({ post }) => {
    const query = "x".repeat(200_000);
    const response = await post(toolCall("cyberos.cuo.route", { query }));
    assert.equal(response.status, 200);
    assert.match((await response.json()).error.message, /query/);
  });
});

Deno.test("HTTP-16 a chunked body that never ends is cut at the limit", async () => {
  const handler = { limits: { maxBodyBytes: 100_000 } };
  await withBridge({ handler }, async ({ port }) => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    const write = (text: string) =>
      connection.write(new TextEncoder().encode(text));
    await write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `2000\r\n${"x".repeat(8192)}\r\n`;
    let sent = 0;
    const reading = (async () => {
      const buffer = new Uint8Array(4096);
      const count = await connection.read(buffer) ?? 0;
      return new TextDecoder().decode(buffer.subarray(0, count));
    })();
    try {
      for (; sent < 400; sent++) await write(chunk);
    } catch {
      // The server closed: nothing more is read.
    }
    const answer = await reading;
    assert.equal(statusOf(answer), 413);
    connection.close();
  });
});

function inPieces(count: number, bytes: number): string {
  const piece = `${bytes.toString(16)}\r\n${" ".repeat(bytes)}\r\n`;
  const message = JSON.stringify(PING);
  return `${HEAD}Transfer-Encoding: chunked\r\n\r\n${piece.repeat(count)}${
    message.length.toString(16)
  }\r\n${message}\r\n0\r\n\r\n`;
}

Deno.test("HTTP-16 a body in countless pieces is refused before it holds everybody up", async () => {
  await withBridge({}, async ({ port }) => {
    for (const [count, bytes] of [[800, 1], [4_000, 1_024]] as const) {
      const answer = await sendRaw(port, inPieces(count, bytes), 5_000);
      assert.equal(statusOf(answer), 200, `${count} pieces of ${bytes} bytes`);
    }
    const answer = await sendRaw(port, inPieces(100_000, 1), 5_000);
    assert.equal(statusOf(answer), 413);
    assert.match(answer, /too many pieces/);
  });
});

Deno.test("HTTP-16 compressed bodies are refused unread", async () => {
  await withBridge({}, async ({ url, post }) => {
    const bomb = await new Response(
      new Blob([new Uint8Array(1_000_000)]).stream().pipeThrough(
        new CompressionStream("gzip"),
      ),
    ).bytes();
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${TOKEN}`,
        "content-type": "application/json",
        "content-encoding": "gzip",
      },
      body: bomb,
    });
    assert.equal(response.status, 415);
    await response.body?.cancel();
    const control = await post(PING, { "content-encoding": "identity" });
    assert.equal(control.status, 200);
    await control.body?.cancel();
  });
});

Deno.test("HTTP-16 a length that does not fit its body harms nobody else", async () => {
  await withBridge({}, async ({ port, post }) => {
    const body = JSON.stringify(PING);
    const short = await sendRaw(
      port,
      `${HEAD}Content-Length: ${body.length - 5}\r\n\r\n${body}`,
    );
    assert.equal(statusOf(short), 400);
    const both = await sendRaw(
      port,
      `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    assert.notEqual(statusOf(both), 200);
    const negative = await sendRaw(port, `${HEAD}Content-Length: -1\r\n\r\n`);
    assert.equal(statusOf(negative), 400);
    assert.equal((await (await post(PING)).json()).id, 1);
  });
});

Deno.test("createHttpHandler() refuses a head over the limit with 431", async () => {
  const handler = { limits: { maxHeadBytes: 4_000 } };
  await withBridge({ handler }, async ({ post }) => {
    const response = await post(PING, { "x-a": "x".repeat(4_000) });
    assert.equal(response.status, 431);
    assert.equal((await response.json()).error.data.class, "input_validation");
    const control = await post(PING, { "x-a": "x".repeat(1_000) });
    assert.equal(control.status, 200);
    await control.body?.cancel();
  });
});

Deno.test("createHttpHandler() refuses JSON that nests too deep", async () => {
  const handler = { limits: { maxJsonDepth: 10 } };
  await withBridge({ handler }, async ({ post }) => {
    const nested = (depth: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":${
        "[".repeat(depth)
      }${"]".repeat(depth)}}}`;
    const deep = await post(nested(100_000));
    assert.equal(deep.status, 400);
    const { id, error } = await deep.json();
    assert.deepEqual([id, error.code], [1, -32600]);
    const control = await post(nested(5));
    assert.equal(control.status, 200);
    await control.body?.cancel();
  });
});

Deno.test("createHttpHandler() gives up on a body that drips with 408", async () => {
  const handler = { limits: { bodyTimeoutMs: 150 } };
  await withBridge({ handler }, async ({ port, post }) => {
    const body = JSON.stringify(PING);
    for (
      const start of [
        `${HEAD}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
        `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"jso\r\n`,
      ]
    ) {
      const answer = await sendRaw(port, start, 3_000);
      assert.equal(statusOf(answer), 408);
      assert.match(answer, /"retryable":true/);
    }
    const late = sendRaw(
      port,
      `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    assert.equal(statusOf(await late), 200);
    assert.equal((await (await post(PING)).json()).id, 1);
  });
});

Deno.test("createCallLimits() over HTTP: 429 with Retry-After, per subject", async () => {
  const time = { nowMs: 0 };
  const enter = createCallLimits({
    clock: { now: () => time.nowMs },
    maxConcurrentCalls: 100,
    maxConcurrentCallsPerTenant: 100,
    callsPerSecond: 2,
  });
  await withBridge({ harness: { enter } }, async ({ post }) => {
    const call = (token = TOKEN) =>
      post(toolCall("cyberos.cuo.list_personas"), {
        authorization: `Bearer ${token}`,
      });
    for (let index = 0; index < 4; index++) {
      const response = await call();
      assert.equal(response.status, 200);
      await response.body?.cancel();
    }
    const limited = await call();
    assert.equal(limited.status, 429);
    assert.equal(limited.headers.get("retry-after"), "1");
    const { error } = await limited.json();
    assert.equal(error.data.class, "upstream_unavailable");
    assert.equal(error.data.retryable, true);
    const other = await call(await tokenWith({ sub: "user-2" }));
    assert.equal(other.status, 200);
    await other.body?.cancel();
    time.nowMs += 1_000;
    const later = await call();
    assert.equal(later.status, 200);
    await later.body?.cancel();
  });
});

Deno.test("createCallLimits() over HTTP: places are per tenant and given back", async () => {
  const enter = createCallLimits({
    clock: { now: () => 0 },
    maxConcurrentCalls: 3,
    maxConcurrentCallsPerTenant: 2,
    callsPerSecond: 1_000,
  });
  await withBridge({ harness: { enter } }, async ({ post, harness }) => {
    const gate = Promise.withResolvers<void>();
    harness.upstreams.behaviours.set("cuo.listPersonas", async () => {
      await gate.promise;
      return [];
    });
    const call = (token = TOKEN) =>
      post(toolCall("cyberos.cuo.list_personas"), {
        authorization: `Bearer ${token}`,
      });
    const first = call();
    const second = call();
    while (harness.upstreams.calls.length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const refused = await call();
    assert.equal(refused.status, 429);
    assert.match((await refused.json()).error.message, /tenant/);
    // Short methods take no place.
    assert.equal((await (await post(PING)).json()).id, 1);
    const elsewhere = await tokenWith({ tenant_id: TENANT_B });
    const third = call(elsewhere);
    while (harness.upstreams.calls.length < 3) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const full = await call(elsewhere);
    assert.equal(full.status, 429);
    assert.match((await full.json()).error.message, /server/);
    gate.resolve();
    for (const response of await Promise.all([first, second, third])) {
      assert.equal(response.status, 200);
      await response.body?.cancel();
    }
    const again = await call();
    assert.equal(again.status, 200);
    await again.body?.cancel();
  });
});

Deno.test("createCallLimits() forgets callers once their buckets are full again", () => {
  const time = { nowMs: 0 };
  const enter = createCallLimits({
    clock: { now: () => time.nowMs },
    maxConcurrentCalls: 1e6,
    maxConcurrentCallsPerTenant: 1e6,
    callsPerSecond: 1,
  });
  const code = (subject: string) => {
    try {
      enter(principal({ subject }))();
      return "ok";
    } catch (error) {
      return (error as BridgeError).code;
    }
  };
  assert.deepEqual(["a", "a", "a"].map(code), ["ok", "ok", "RATE_LIMITED"]);
  for (let index = 0; index < 5_000; index++) {
    assert.equal(code(`s${index}`), "ok");
  }
  time.nowMs += 500;
  assert.equal(code("a"), "RATE_LIMITED");
  time.nowMs += 2_000;
  assert.equal(code("a"), "ok");
  time.nowMs -= 10_000;
  assert.equal(code("a"), "ok", "a clock that steps back locks nobody out");
});
