/** Listening, health, connections and the drain. */
import assert from "node:assert/strict";
import { findServeConnection } from "../../../bridge/transports/http/connections.ts";
import { serveHttp } from "../../../bridge/transports/http/serve.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import {
  makeHandler,
  PING,
  rawPost,
  sendRaw,
  statusOf,
  TOKEN,
  toolCall,
  withBridge,
} from "./support.ts";

const ignore = findServeConnection() === undefined;

Deno.test("P2-AC21 --listen 0.0.0.0 opens the port, /healthz answers 200, and a warning asks for TLS", async () => {
  const { handler } = makeHandler();
  const log = new FakeLogger();
  const stop = new AbortController();
  const server = serveHttp({
    listen: { hostname: "0.0.0.0", port: 0 },
    handler,
    signal: stop.signal,
    log,
  });
  const response = await fetch(`http://127.0.0.1:${server.port}/healthz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: "ok" });
  assert.match(JSON.stringify(log.lines), /TLS/);
  stop.abort();
  await server.finished;
  await assert.rejects(Deno.connect({ port: server.port }));
});

Deno.test("serveHttp() on loopback warns of nothing", async () => {
  await withBridge({}, ({ log }) => {
    assert.deepEqual(log.lines, []);
    return Promise.resolve();
  });
});

Deno.test("/readyz names each dependency, and is 503 when one is down", async () => {
  let state: "ok" | "down" | "degraded" = "ok";
  let asked = 0;
  let nowMs = 0;
  const handler = {
    clock: { now: () => nowMs },
    readiness: () => {
      asked++;
      return Promise.resolve([{ name: "store", state }, {
        name: "keys",
        state: "ok" as const,
      }]);
    },
  };
  await withBridge({ handler }, async ({ url }) => {
    const ready = await fetch(`${url}/readyz`);
    assert.equal(ready.status, 200);
    const { dependencies } = await ready.json();
    assert.deepEqual(dependencies.map((d: { name: string }) => d.name), [
      "store",
      "keys",
    ]);
    state = "down";
    const cached = await fetch(`${url}/readyz`);
    assert.equal(cached.status, 200, "asked once a second");
    await cached.body?.cancel();
    assert.equal(asked, 1);
    nowMs += 1_000;
    const down = await fetch(`${url}/readyz`);
    assert.equal(down.status, 503);
    assert.equal((await down.json()).dependencies[0].state, "down");
    state = "degraded";
    nowMs += 1_000;
    const degraded = await fetch(`${url}/readyz`, { method: "HEAD" });
    assert.equal(degraded.status, 200);
  });
});

Deno.test("/readyz is 503 when asking fails", async () => {
  const handler = { readiness: () => Promise.reject(new Error("hunter2")) };
  await withBridge({ handler }, async ({ url }) => {
    const response = await fetch(`${url}/readyz`);
    assert.equal(response.status, 503);
    assert(!(await response.text()).includes("hunter2"));
  });
});

Deno.test("serveHttp() finishes what is under way before it stops", async () => {
  await withBridge({}, async ({ post, harness, stop, server, port }) => {
    const gate = Promise.withResolvers<void>();
    harness.upstreams.behaviours.set("cuo.listPersonas", async () => {
      await gate.promise;
      return [];
    });
    const idle = await Deno.connect({ hostname: "127.0.0.1", port });
    const calls = [{}, { _meta: { progressToken: 1 } }].map((more) =>
      post(toolCall("cyberos.cuo.list_personas", {}, more))
    );
    const streaming = await calls[1];
    while (harness.upstreams.calls.length < 2) await tick();
    stop();
    assert.equal(await idle.read(new Uint8Array(1)).catch(() => null), null);
    idle.close();
    await assert.rejects(Deno.connect({ hostname: "127.0.0.1", port }));
    gate.resolve();
    const json = await (await calls[0])?.json();
    assert.deepEqual(json.result.structuredContent, { personas: [] });
    assert.match(await streaming?.text() ?? "", /"personas":\[\]/);
    await server.finished;
  });
});

Deno.test("serveHttp() tells a caller whose call is cut that it may call again", async () => {
  const limits = { drainTimeoutMs: 100 };
  await withBridge({ limits }, async ({ post, harness, stop, server }) => {
    harness.upstreams.behaviours.set(
      "cuo.listPersonas",
      () => new Promise(() => {}),
    );
    const calls = [{}, { _meta: { progressToken: 1 } }].map((more) =>
      post(toolCall("cyberos.cuo.list_personas", {}, more))
    );
    while (harness.upstreams.calls.length < 2) await tick();
    stop();
    const [json, stream] = await Promise.all(calls);
    assert.equal(json?.status, 503);
    assert.equal(stream?.status, 200);
    const events = (await stream?.text() ?? "").split("\ndata: ");
    const answers = [await json?.json(), JSON.parse(events.at(-1) ?? "")];
    for (const { id, error } of answers) {
      assert.equal(id, 1);
      assert.equal(error.code, -32001);
      assert.equal(error.data.retryable, true);
    }
    await server.finished;
  });
});

Deno.test("serveHttp() cuts what takes longer than the drain", async () => {
  const limits = { drainTimeoutMs: 100 };
  await withBridge({ limits }, async ({ post, harness, stop, server, log }) => {
    harness.upstreams.behaviours.set(
      "cuo.listPersonas",
      () => new Promise(() => {}),
    );
    const call = post(toolCall("cyberos.cuo.list_personas"));
    while (harness.upstreams.calls.length < 1) await tick();
    stop();
    await server.finished;
    const outcome = await call.then(async (response) => {
      await response.body?.cancel();
      return response.status;
    }, () => "cut");
    assert(outcome === "cut" || outcome === 503, `${outcome}`);
    assert(harness.upstreams.calls[0]?.signal.aborted);
    if (!ignore) assert(JSON.stringify(log.lines).includes("http.drain_cut"));
  });
});

Deno.test({
  name:
    "serveHttp() closes connections that say nothing, drip their head or idle",
  ignore,
  async fn() {
    const limits = { idleTimeoutMs: 150 };
    await withBridge({ limits }, async ({ port, server }) => {
      const connections = await Promise.all(
        [
          "",
          "POST /mcp HTTP/1.1\r\nHost: x\r\n",
          "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        ]
          .map((text) => readToEnd(port, text)),
      );
      assert.equal(connections[0], "");
      assert.equal(connections[1], "");
      assert.match(connections[2] ?? "", /200 OK/);
      assert.equal(server.connections, 0);
    });
  },
});

Deno.test({
  name: "serveHttp() does not take a long call for an idle connection",
  ignore,
  async fn() {
    const limits = { idleTimeoutMs: 60 };
    const handler = { limits: { streamAfterMs: 10_000, keepAliveMs: 10_000 } };
    await withBridge({ limits, handler }, async ({ post, harness }) => {
      harness.upstreams.behaviours.set("cuo.listPersonas", async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return [];
      });
      for (const more of [{}, { _meta: { progressToken: 1 } }]) {
        const response = await post(
          toolCall("cyberos.cuo.list_personas", {}, more),
        );
        assert.match(await response.text(), /"personas":\[\]/);
      }
    });
  },
});

Deno.test({
  name: "serveHttp() turns a connection beyond the limit away with 503",
  ignore,
  async fn() {
    const limits = { maxConnections: 2 };
    await withBridge({ limits }, async ({ port, server }) => {
      const open = await Promise.all(
        [1, 2].map(() => Deno.connect({ hostname: "127.0.0.1", port })),
      );
      const settled = async (count: number) => {
        while (server.connections !== count) await tick();
      };
      await settled(2);
      assert.match(await readToEnd(port, ""), /^HTTP\/1\.1 503 .*Retry-After/s);
      open[0]?.close();
      await settled(1);
      assert.equal(statusOf(await rawPost(port, [])), 200);
      open[1]?.close();
    });
  },
});

Deno.test("serveHttp() serves requests that come in one packet, in order", async () => {
  await withBridge({}, async ({ port }) => {
    const body = JSON.stringify(PING);
    const one =
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const answer = await readToEnd(
      port,
      one + one.replace('"id":1', '"id":2') +
        one.replace("POST", "GET").replace("\r\n", "\r\nConnection: close\r\n"),
    );
    assert.deepEqual(answer.match(/HTTP\/1\.1 (\d+)/g), [
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "HTTP/1.1 405",
    ]);
    assert(answer.indexOf('"id":1') < answer.indexOf('"id":2'));
  });
});

Deno.test("serveHttp() falls back to Deno.serve, says so, and drains all the same", async () => {
  const internal = (Deno as unknown as { internal: symbol }).internal;
  const parts = (Deno as unknown as Record<symbol, Record<string, unknown>>)[
    internal
  ];
  assert(parts);
  const { serveHttpOnConnection } = parts;
  parts["serveHttpOnConnection"] = undefined;
  try {
    await withBridge({}, async ({ post, harness, stop, server, log }) => {
      assert.match(JSON.stringify(log.lines), /http\.unguarded/);
      assert.equal(server.connections, undefined);
      const gate = Promise.withResolvers<void>();
      harness.upstreams.behaviours.set("cuo.listPersonas", async () => {
        await gate.promise;
        return [];
      });
      const call = post(toolCall("cyberos.cuo.list_personas"));
      while (harness.upstreams.calls.length < 1) await tick();
      stop();
      gate.resolve();
      assert.match(await (await call).text(), /"personas":\[\]/);
      await server.finished;
    });
  } finally {
    parts["serveHttpOnConnection"] = serveHttpOnConnection;
  }
});

Deno.test("createHttpHandler() is a fetch handler for Deno.serve and deno serve", async () => {
  const { handler } = makeHandler();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => handler(request),
  );
  assert.equal(statusOf(await rawPost(server.addr.port, [])), 200);
  await server.shutdown();
});

const DROPS = Number(Deno.env.get("CYBEROS_TEST_DROPS") ?? 1_000);

Deno.test(`serveHttp() survives ${DROPS} connections dropped at random points`, async () => {
  await withBridge({}, async ({ port, post, server, log }) => {
    const body = JSON.stringify(
      toolCall("cyberos.cuo.list_personas", {}, {
        _meta: { progressToken: 1 },
      }),
    );
    const whole =
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const bytes = new TextEncoder().encode(whole);
    let seed = 42;
    const random = (below: number) => {
      seed = Math.imul(seed, 1664525) + 1013904223 >>> 0;
      return seed % below;
    };
    const drop = async () => {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port });
      try {
        const until = random(bytes.length + 50);
        await connection.write(
          bytes.subarray(0, Math.min(until, bytes.length)),
        );
        if (random(4) === 0) await connection.closeWrite();
        if (random(3) === 0) {
          const reading = connection.read(new Uint8Array(16)).catch(() => {});
          await Promise.race([reading, tick()]);
        }
      } catch {
        // The server may be faster.
      }
      connection.close();
    };
    for (let done = 0; done < DROPS; done += 50) {
      await Promise.all(Array.from({ length: 50 }, drop));
    }
    assert.equal((await (await post(PING)).json()).id, 1);
    if (!ignore) {
      const deadline = Date.now() + 5_000;
      while ((server.connections ?? 0) > 5 && Date.now() < deadline) {
        await tick();
      }
      assert((server.connections ?? 0) <= 5, `${server.connections} left`);
    }
    assert(!JSON.stringify(log.lines).includes("panic"));
  });
});

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2));
}

async function readToEnd(port: number, text: string): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const decoder = new TextDecoder();
  let answer = "";
  try {
    if (text) await connection.write(new TextEncoder().encode(text));
    for await (const chunk of connection.readable) {
      answer += decoder.decode(chunk);
    }
  } catch {
    try {
      connection.close();
    } catch {
      // Closed already.
    }
  }
  return answer;
}

Deno.test("sendRaw() is the control of the raw tests", async () => {
  await withBridge({}, async ({ port }) => {
    const answer = await sendRaw(
      port,
      "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    );
    assert.equal(statusOf(answer), 200);
  });
});
