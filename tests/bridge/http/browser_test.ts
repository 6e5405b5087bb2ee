/** Origins, hosts, preflights: what a browser is allowed, and a hostile page is not. */
import assert from "node:assert/strict";
import { createOriginPolicy } from "../../../bridge/transports/http/origin_policy.ts";
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

const ALLOWED = "https://allowed.example";
const CALL = toolCall("cyberos.cuo.list_personas");
const CORS = { handler: { corsOrigins: [ALLOWED, "https://*.apps.example"] } };
const REQUESTED = [
  "authorization",
  "content-type",
  "accept",
  "mcp-protocol-version",
  "mcp-session-id",
  "last-event-id",
  "traceparent",
  "tracestate",
];

function preflight(origin: string, more: Record<string, string> = {}) {
  return {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": REQUESTED.join(","),
      ...more,
    },
  };
}

function hasCors(response: Response): boolean {
  return [...response.headers.keys()].some((name) =>
    name.startsWith("access-control-")
  );
}

Deno.test("P2-AC18 P2-FM15 by default no origin is allowed: no CORS headers, preflights refused with the reason", async () => {
  await withBridge({}, async ({ url, post, harness }) => {
    const response = await fetch(`${url}/mcp`, preflight(ALLOWED));
    assert.equal(response.status, 403);
    assert(!hasCors(response));
    const { error } = await response.json();
    assert.equal(error.data.class, "authz_denied");
    assert.match(error.message, /origin is not allowed/);
    assert.match(error.data.hint, /--cors-origin/);
    const called = await post(CALL, { origin: ALLOWED });
    assert.equal(called.status, 403);
    assert(!hasCors(called));
    await called.body?.cancel();
    const native = await post(CALL);
    assert.equal(native.status, 200);
    assert(!hasCors(native));
    await native.body?.cancel();
    assert.equal(harness.upstreams.calls.length, 1);
  });
});

Deno.test("P2-AC19 a configured origin may call and read the answer", async () => {
  await withBridge(CORS, async ({ post }) => {
    for (const origin of [ALLOWED, "https://a.apps.example"]) {
      const response = await post(CALL, { origin });
      assert.equal(response.status, 200);
      const { headers } = response;
      assert.equal(headers.get("access-control-allow-origin"), origin);
      assert.equal(headers.get("access-control-allow-credentials"), null);
      const exposed = headers.get("access-control-expose-headers") ?? "";
      assert.match(exposed, /WWW-Authenticate/);
      assert.match(exposed, /MCP-Protocol-Version/);
      assert.match(headers.get("vary") ?? "", /Origin/);
      await response.body?.cancel();
    }
  });
});

Deno.test("HTTP-08 the preflight of an allowed origin allows every header that clients send, without a token", async () => {
  await withBridge(CORS, async ({ url }) => {
    const response = await fetch(`${url}/mcp`, preflight(ALLOWED));
    assert.equal(response.status, 204);
    const allowed = (response.headers.get("access-control-allow-headers") ?? "")
      .toLowerCase().split(", ");
    for (const name of REQUESTED) assert(allowed.includes(name), name);
    assert(!allowed.includes("*"));
    assert.match(
      response.headers.get("access-control-allow-methods") ?? "",
      /POST/,
    );
    assert.equal(response.headers.get("access-control-allow-origin"), ALLOWED);
    assert.match(
      response.headers.get("vary") ?? "",
      /Access-Control-Request-Headers/,
    );
    const put = await fetch(
      `${url}/mcp`,
      preflight(ALLOWED, { "access-control-request-method": "PUT" }),
    );
    assert.equal(put.status, 403);
    await put.body?.cancel();
    const plain = await fetch(`${url}/mcp`, { method: "OPTIONS" });
    assert.equal(plain.status, 204);
    assert.match(plain.headers.get("allow") ?? "", /POST/);
  });
});

Deno.test("HTTP-10 CORS headers are on every error of an allowed origin", async () => {
  const options = {
    handler: { ...CORS.handler, limits: { maxBodyBytes: 1_000 } },
  };
  const origin = ALLOWED;
  const check = async (status: number, response: Response) => {
    const { headers } = response;
    assert.equal(response.status, status);
    assert.equal(headers.get("access-control-allow-origin"), ALLOWED);
    assert.match(headers.get("access-control-expose-headers") ?? "", /WWW/);
    assert.match(headers.get("vary") ?? "", /Origin/);
    await response.body?.cancel();
  };
  await withBridge(options, async ({ url, post, harness }) => {
    harness.upstreams.behaviours.set("cuo.listPersonas", () => {
      throw new Error("bug");
    });
    const get = { headers: { origin } };
    const big = { origin, "x-big": "x".repeat(40_000) };
    await check(401, await post(PING, { origin, authorization: "" }));
    await check(400, await post("{", { origin }));
    await check(413, await post("x".repeat(2_000), { origin }));
    await check(415, await post("x", { origin, "content-type": "text/plain" }));
    await check(200, await post(CALL, { origin }));
    await check(
      400,
      await post(PING, { origin, "mcp-protocol-version": "x" }),
    );
    await check(202, await post({ jsonrpc: "2.0", method: "x" }, { origin }));
    await check(431, await post(PING, big));
    await check(404, await fetch(`${url}/nothing`, get));
    await check(405, await fetch(`${url}/healthz`, { ...get, method: "POST" }));
    await check(
      200,
      await fetch(`${url}/.well-known/oauth-protected-resource`, get),
    );
  });
  await withBridge(options, async ({ post, jwks }) => {
    jwks.answer = 500;
    await check(503, await post(PING, { origin }));
  });
});

Deno.test("HTTP-11 a foreign origin never reaches a tool, whatever it looks like", async () => {
  await withBridge(CORS, async ({ port, harness, jwks }) => {
    const body = JSON.stringify(CALL);
    for (
      const origins of [
        ["https://evil.example"],
        ["null"],
        ["https://allowed.example.evil.com"],
        ["http://allowed.example"],
        ["https://allowed.example:8443"],
        ["https://allowed.example/"],
        ["HTTPS://ALLOWED.EXAMPLE"],
        ["https://xallowed.example"],
        [ALLOWED, ALLOWED],
        [ALLOWED, "https://evil.example"],
        [""],
        ["https://apps.example"],
        ["https://evil-apps.example"],
        ["https://a.apps.example.evil.com"],
        ["https://evil.com/.apps.example"],
        ["https://evil.com#.apps.example"],
        ["https://.apps.example"],
        ["https://a..apps.example"],
        ["https://user@a.apps.example"],
        ["https://a.apps.example:444"],
        ["http://a.apps.example"],
        [`http://127.0.0.1:${port}`],
      ]
    ) {
      const headers = origins.map((origin) => `Origin: ${origin}`);
      const answer = await rawPost(port, headers, body);
      assert.equal(statusOf(answer), 403, origins.join());
      assert(!/access-control-allow-origin/i.test(answer), origins.join());
      assert.match(answer, /\r\nvary: [^\r]*Origin/i);
    }
    assert.equal(harness.upstreams.calls.length, 0);
    assert.equal(jwks.count, 0, "judged before the token");
    const control = await rawPost(port, [`Origin: ${ALLOWED}`], body);
    assert.equal(statusOf(control), 200);
    assert.equal(harness.upstreams.calls.length, 1);
  });
});

Deno.test("HTTP-12 a foreign Host is refused before anything is read, own names pass", async () => {
  const handler = {
    allowedHosts: ["extra.example"],
    resourceUrl: "https://bridge.test/mcp",
  };
  await withBridge({ handler }, async ({ port, jwks }) => {
    for (
      const host of [
        `evil.example:${port}`,
        "localhost.evil.com",
        "127.0.0.1.evil.com",
        "evil.com:127.0.0.1",
        "127.0.0.1@evil.example",
        "a b",
        "[::2]",
        "0.0.0.0",
        "",
        "localhost,evil.example",
      ]
    ) {
      const answer = await rawPost(port, [`Host: ${host}`], "not json");
      assert.equal(statusOf(answer), 403, host);
    }
    assert.equal(jwks.count, 0);
    for (
      const host of [
        "localhost",
        "LOCALHOST:1",
        `127.0.0.1:${port + 1}`,
        `[::1]:${port}`,
        "extra.example:443",
        "bridge.test",
      ]
    ) {
      const answer = await rawPost(port, [`Host: ${host}`]);
      assert.equal(statusOf(answer), 200, host);
    }
    const absolute = await sendRaw(
      port,
      `GET http://evil.example/.well-known/oauth-protected-resource HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
    );
    assert.equal(statusOf(absolute), 403);
    const get = (path: string) =>
      sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
    assert.equal(statusOf(await get("/mcp")), 403);
    assert.equal(statusOf(await get("/mcp?x=/healthz")), 403);
    assert.equal(statusOf(await get("/x/healthz")), 403);
    assert.equal(statusOf(await get("http://evil.example?/healthz")), 403);
    assert.equal(
      statusOf(await get("/healthz")),
      200,
      "probes come by address",
    );
  });
});

Deno.test("HTTP-13 origins that would let anybody in do not start", () => {
  for (
    const origin of [
      "*",
      "null",
      "",
      "https://*",
      "https://*.com",
      "http://*.example.com",
      "https://*.*.example.com",
      "https://a.*.example.com",
      "https://*example.com",
      "*://allowed.example",
      "https://allowed.example/",
      "https://allowed.example/path",
      "https://ALLOWED.example",
      "https://allowed.example:443",
      "https://user@allowed.example",
      "allowed.example",
      "file://",
      "https://a.example, https://b.example",
    ]
  ) {
    assert.throws(
      () => makeHandler({ handler: { corsOrigins: [origin] } }),
      (error) =>
        error instanceof RangeError && /https:\/\/app/.test(error.message),
      origin,
    );
  }
  makeHandler({ handler: { corsOrigins: [ALLOWED, "http://localhost:5173"] } });
});

Deno.test("createOriginPolicy() matches a pattern's subdomains, with its port", () => {
  const allows = createOriginPolicy([
    "https://*.example.com",
    "https://*.example.org:8443",
  ]);
  for (
    const origin of [
      "https://a.example.com",
      "https://a.b.example.com",
      "https://xn--80ak6aa92e.example.com",
      "https://a.example.org:8443",
    ]
  ) assert(allows(origin), origin);
  for (
    const origin of [
      "https://example.com",
      "https://a.example.com:8443",
      "https://a.example.org",
      "https://-a.example.com",
      "https://a_b.example.com",
      "https://A.example.com",
      "https://a.example.com.",
      "https://a.example.com\n",
    ]
  ) assert(!allows(origin), origin);
});

Deno.test("HTTP-14 Vary names Origin on every answer, allowed or not", async () => {
  await withBridge(CORS, async ({ url }) => {
    const path = `${url}/.well-known/oauth-protected-resource`;
    for (
      const origin of [
        ALLOWED,
        "https://b.apps.example",
        "https://evil.example",
      ]
    ) {
      const response = await fetch(path, { headers: { origin } });
      assert.match(response.headers.get("vary") ?? "", /Origin/);
      await response.body?.cancel();
    }
    const native = await fetch(path);
    assert.match(native.headers.get("vary") ?? "", /Origin/);
    await native.body?.cancel();
  });
});

Deno.test("HTTP-17 a cross-site form post with a stolen token's cookie reaches no tool", async () => {
  await withBridge({}, async ({ url, harness }) => {
    for (
      const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
      ]
    ) {
      const response = await fetch(`${url}/mcp`, {
        method: "POST",
        headers: { "content-type": type, authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify(CALL),
      });
      assert.equal(response.status, 415);
      await response.body?.cancel();
    }
    assert.equal(harness.upstreams.calls.length, 0);
  });
});
