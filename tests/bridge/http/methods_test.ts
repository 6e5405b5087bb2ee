/** Paths, methods, statuses and message shapes over HTTP. */
import assert from "node:assert/strict";
import {
  PING,
  rawPost,
  sendRaw,
  statusOf,
  TOKEN,
  tokenWith,
  toolCall,
  withBridge,
} from "./support.ts";
import { TENANT_A, TENANT_B } from "../../support/tokens.ts";

const BEARER = { authorization: `Bearer ${TOKEN}` };

Deno.test("createHttpHandler() answers a call in JSON", async () => {
  await withBridge({}, async ({ post }) => {
    const response = await post(toolCall("cyberos.cuo.route", { query: "x" }));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(response.headers.get("set-cookie"), null);
    assert.equal(response.headers.get("mcp-session-id"), null);
    const { result } = await response.json();
    assert.equal(result.structuredContent.confidence, 0.92);
  });
});

Deno.test("createHttpHandler() initializes, lists and pings without a session", async () => {
  await withBridge({}, async ({ post }) => {
    const initialize = {
      jsonrpc: "2.0",
      id: 0,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      },
    };
    const first = await (await post(initialize)).json();
    assert.equal(first.result.protocolVersion, "2025-11-25");
    const listed = await (await post({ ...PING, method: "tools/list" })).json();
    assert.equal(listed.result.tools.length, 8);
    assert.deepEqual(await (await post(PING)).json(), {
      jsonrpc: "2.0",
      id: 1,
      result: {},
    });
  });
});

Deno.test("HTTP-04 other methods get 401 without a token and 405 with one, at once", async () => {
  await withBridge({}, async ({ url, harness }) => {
    for (const method of ["GET", "DELETE", "HEAD", "PUT", "PATCH"]) {
      const accept = { accept: "text/event-stream" };
      const bare = await fetch(`${url}/mcp`, { method, headers: accept });
      assert.equal(bare.status, 401, method);
      const known = await fetch(`${url}/mcp`, {
        method,
        headers: { ...accept, ...BEARER },
      });
      assert.equal(known.status, 405, method);
      assert.match(known.headers.get("allow") ?? "", /POST/);
      await bare.body?.cancel();
      const text = await known.text();
      if (method !== "HEAD") {
        assert.equal(JSON.parse(text).error.code, -32600);
      }
      assert(text.length < 1_000);
    }
    assert.equal(harness.loads, 0);
  });
});

Deno.test("HTTP-06 notifications and stray responses get 202 without a body, broken messages 400", async () => {
  await withBridge({}, async ({ post }) => {
    for (
      const message of [
        { jsonrpc: "2.0", method: "notifications/initialized" },
        {
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: 7 },
        },
        { jsonrpc: "2.0", id: 99, result: {} },
        { jsonrpc: "2.0", method: "no/such/notification" },
      ]
    ) {
      const response = await post(message);
      assert.equal(response.status, 202);
      assert.equal(response.headers.get("content-type"), null);
      assert.equal(response.headers.get("content-length"), "0");
      assert.equal(await response.text(), "");
    }
    for (
      const message of [
        {},
        { jsonrpc: "1.0", id: 1, method: "ping" },
        [],
        [PING],
        7,
        null,
        "x",
      ]
    ) {
      const response = await post(JSON.stringify(message));
      assert.equal(response.status, 400, JSON.stringify(message));
      assert.equal((await response.json()).error.code, -32600);
    }
  });
});

Deno.test("HTTP-17 only JSON in UTF-8 reaches a tool", async () => {
  await withBridge({}, async ({ post, url, harness }) => {
    const call = JSON.stringify(toolCall("cyberos.cuo.route", { query: "x" }));
    for (
      const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "text/json",
        "application/json-seq",
      ]
    ) {
      const response = await post(call, { "content-type": type });
      assert.equal(response.status, 415, type);
      assert.equal(
        (await response.json()).error.data.class,
        "input_validation",
      );
    }
    const untyped = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: BEARER,
      body: new TextEncoder().encode(call),
    });
    assert.equal(untyped.status, 415);
    await untyped.body?.cancel();
    assert.equal(harness.upstreams.calls.length, 0);
    for (
      const type of [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json;charset=UTF-8",
      ]
    ) {
      const response = await post(call, { "content-type": type });
      assert.equal(response.status, 200, type);
      await response.body?.cancel();
    }
    assert.equal(harness.upstreams.calls.length, 4);
  });
});

Deno.test("HTTP-17 UTF-16 and invalid UTF-8 are parse errors, never decoded with replacements", async () => {
  await withBridge({}, async ({ url, harness }) => {
    const call = JSON.stringify(toolCall("cyberos.cuo.route", { query: "#" }));
    const utf16 = new Uint8Array(
      Uint16Array.from(call, (unit) => unit.charCodeAt(0)).buffer,
    );
    const invalid = new TextEncoder().encode(call);
    invalid[invalid.indexOf("#".charCodeAt(0))] = 0xff;
    const bodies = [
      utf16,
      invalid,
      new TextEncoder().encode("{"),
      new Uint8Array(),
    ];
    for (const body of bodies) {
      const response = await fetch(`${url}/mcp`, {
        method: "POST",
        headers: {
          ...BEARER,
          "content-type": "application/json; charset=utf-16",
        },
        body,
      });
      assert.equal(response.status, 400);
      assert.equal((await response.json()).error.code, -32700);
    }
    assert.equal(harness.upstreams.calls.length, 0);
  });
});

Deno.test("HTTP-18 a trailing slash is served, other spellings are not found, nothing redirects", async () => {
  await withBridge({}, async ({ port }) => {
    for (
      const [path, status] of [
        ["/mcp", 200],
        ["/mcp/", 200],
        ["/mcp?x=1", 200],
        ["/MCP", 404],
        ["//mcp", 404],
        ["/x/../mcp", 404],
        ["/mcp/x", 404],
        ["/%6dcp", 200],
        ["/", 404],
        ["/sse", 404],
      ] as const
    ) {
      const answer = await rawRequest(port, path);
      assert.equal(statusOf(answer), status, `${path} ${answer}`);
      if (status === 404) {
        const body = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")));
        assert.notEqual(body.error.code, -32001);
      }
    }
  });
});

function rawRequest(port: number, path: string): Promise<string> {
  const body = JSON.stringify(PING);
  return sendRaw(
    port,
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

Deno.test("P2-AC24 another MCP-Protocol-Version gets 400 with a JSON-RPC body, but not on initialize", async () => {
  await withBridge({}, async ({ post }) => {
    for (const version of ["2024-11-05", "2026-07-28", "x", ""]) {
      const response = await post(PING, { "mcp-protocol-version": version });
      assert.equal(response.status, 400, version);
      const { id, error } = await response.json();
      assert.equal(id, 1);
      assert.equal(error.code, -32602);
      assert.deepEqual(error.data.supported, ["2025-11-25"]);
    }
    const ours = await post(PING, { "mcp-protocol-version": "2025-11-25" });
    assert.equal(ours.status, 200);
    await ours.body?.cancel();
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "codex", version: "1" },
      },
    };
    const response = await post(initialize, {
      "mcp-protocol-version": "2025-06-18",
    });
    assert.equal(response.status, 200);
    const { result } = await response.json();
    assert.equal(result.protocolVersion, "2025-11-25");
  });
});

Deno.test("createHttpHandler() answers JSON-RPC errors of the protocol in a 200", async () => {
  await withBridge({}, async ({ post }) => {
    for (
      const [message, code] of [
        [{ ...PING, method: "no/such" }, -32601],
        [{ ...PING, method: "server/discover" }, -32601],
        [toolCall("cyberos.no.tool"), -32602],
        [toolCall("cyberos.cuo.route", {}), -32602],
        [
          toolCall("cyberos.memory.append_audit", { kind: "a", body: {} }),
          -32000,
        ],
      ] as const
    ) {
      const response = await post(message);
      assert.equal(response.status, 200);
      const { error } = await response.json();
      assert.equal(error.code, code);
      assert.match(error.data.trace_id, /^[0-9a-f]{32}$/);
    }
  });
});

Deno.test("AUTH-10 a tenant named beside the token must be the token's", async () => {
  await withBridge({}, async ({ url, harness }) => {
    const call = JSON.stringify(toolCall("cyberos.cuo.list_personas"));
    const send = (query: string, headers: Record<string, string> = {}) =>
      fetch(`${url}/mcp${query}`, {
        method: "POST",
        headers: { ...BEARER, "content-type": "application/json", ...headers },
        body: call,
      });
    for (
      const response of [
        await send("", { "x-tenant-id": TENANT_B }),
        await send("", { "x-tenant-id": "" }),
        await send(`?tenant=${TENANT_B}`),
        await send(`?a=1&tenant_id=${TENANT_B}`),
        await send("?tenant="),
      ]
    ) {
      const { id, error } = await response.json();
      assert.deepEqual([id, error.code], [1, -32000]);
    }
    assert.equal(harness.upstreams.calls.length, 0);
    const good = await send(`?tenant=${TENANT_A}`, { "x-tenant-id": TENANT_A });
    assert.equal((await good.json()).error, undefined);
  });
});

Deno.test("P2-AC16 the next request's token decides its tenant: nothing is kept in between", async () => {
  await withBridge({}, async ({ post, harness }) => {
    harness.upstreams.rows.set("11111111-1111-4111-8111-111111111111", [
      { seq: 1, kind: "a" },
    ]);
    harness.upstreams.rows.set(TENANT_B, [{ seq: 9, kind: "b" }]);
    const read = async (token: string) => {
      const response = await post(toolCall("cyberos.memory.read_audit"), {
        authorization: `Bearer ${token}`,
      });
      return (await response.json()).result.structuredContent.rows;
    };
    const other = await tokenWith({ tenant_id: TENANT_B });
    for (let round = 0; round < 3; round++) {
      assert.deepEqual(await read(TOKEN), [{ seq: 1, kind: "a" }]);
      assert.deepEqual(await read(other), [{ seq: 9, kind: "b" }]);
    }
  });
});

Deno.test("createHttpHandler() continues the caller's trace", async () => {
  await withBridge({}, async ({ post }) => {
    const trace = "0af7651916cd43dd8448eb211c80319c";
    const traceparent = `00-${trace}-b7ad6b7169203331-01`;
    const failing = await post(toolCall("cyberos.no.tool"), { traceparent });
    assert.equal((await failing.json()).error.data.trace_id, trace);
    const refused = await post(PING, {
      traceparent,
      authorization: "Bearer x",
    });
    assert.equal((await refused.json()).error.data.trace_id, trace);
  });
});

Deno.test("HTTP-23 an unexpected failure shows code, class, trace id and hint, and nothing else", async () => {
  await withBridge({}, async ({ post, harness, log }) => {
    harness.upstreams.behaviours.set("cuo.route", () => {
      throw new Error(
        "SELECT * FROM x at /etc/passwd postgres://u:hunter2@db",
        {
          cause: new Error("hunter2"),
        },
      );
    });
    const response = await post(toolCall("cyberos.cuo.route", { query: "x" }));
    assert.equal(response.status, 200);
    const text = await response.text();
    const { error } = JSON.parse(text);
    assert.equal(error.code, -32603);
    assert.deepEqual(Object.keys(error.data).sort(), [
      "class",
      "hint",
      "retryable",
      "trace_id",
    ]);
    for (const secret of ["hunter2", "SELECT", "postgres", "passwd", "\\n"]) {
      assert(!text.includes(secret), secret);
    }
    const logged = JSON.stringify(harness.log.lines) +
      JSON.stringify(log.lines);
    assert(logged.includes(error.data.trace_id));
    // The bridge lives.
    assert.equal((await (await post(PING)).json()).id, 1);
  });
});

Deno.test("createHttpHandler() turns a crash of the transport itself into an internal error", async () => {
  const crash = () => Promise.reject(new Error("hunter2"));
  const admissions = [
    crash,
    () =>
      Promise.resolve(
        { kind: "call", wantsProgress: false, run: crash } as const,
      ),
    () =>
      Promise.resolve(
        { kind: "call", wantsProgress: true, run: crash } as const,
      ),
  ];
  for (const admit of admissions) {
    const protocol = { admit, handle: crash };
    await withBridge({ handler: { protocol } }, async ({ post, log }) => {
      const text = await (await post(PING)).text();
      assert.match(text, /"code":-32603/);
      assert(!text.includes("hunter2"));
      assert(JSON.stringify(log.lines).includes("hunter2"));
    });
  }
});

Deno.test("createHttpHandler() takes a raw request of HTTP/1.1 as clients send it", async () => {
  await withBridge({}, async ({ port }) => {
    assert.equal(statusOf(await rawPost(port, [])), 200);
  });
});
