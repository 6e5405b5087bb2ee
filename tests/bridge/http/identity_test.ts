/** Tokens over HTTP: 401, 403, 503, challenges and metadata. */
import assert from "node:assert/strict";
import { ALL_SCOPES } from "../../../schema/tools.ts";
import { NOW_MS } from "../../support/tokens.ts";
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

const RESOURCE = "https://bridge.test/mcp";
const METADATA = "https://bridge.test/.well-known/oauth-protected-resource/mcp";
const CONFIGURED = { handler: { resourceUrl: RESOURCE } };

function challengeOf(response: Response): string {
  return response.headers.get("www-authenticate") ?? "";
}

Deno.test("AUTH-11 401 leads to the metadata, and the metadata to the login", async () => {
  await withBridge(CONFIGURED, async ({ url }) => {
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-forwarded-host": "evil.example",
        forwarded: "host=evil.example",
      },
      body: JSON.stringify(PING),
    });
    assert.equal(response.status, 401);
    const { error } = await response.json();
    assert.equal(error.code, -32000);
    assert.equal(error.data.class, "authz_denied");
    assert.match(error.data.trace_id, /^[0-9a-f]{32}$/);
    assert.equal(
      challengeOf(response),
      `Bearer resource_metadata="${METADATA}", scope="${ALL_SCOPES.join(" ")}"`,
    );
    for (const path of ["", "/mcp"]) {
      const metadata = await fetch(
        `${url}/.well-known/oauth-protected-resource${path}`,
        {
          headers: {
            "x-forwarded-host": "evil.example",
            "mcp-protocol-version": "2024-11-05",
          },
        },
      );
      assert.equal(metadata.status, 200);
      assert.deepEqual(await metadata.json(), {
        resource: RESOURCE,
        authorization_servers: ["https://issuer.test"],
        scopes_supported: ALL_SCOPES,
        bearer_methods_supported: ["header"],
        resource_name: "CyberOS",
      });
    }
  });
});

Deno.test("AUTH-11 without a resource URL only loopback hosts describe themselves", async () => {
  const handler = { allowedHosts: ["bridge.internal"] };
  await withBridge({ handler }, async ({ port, url }) => {
    const own = await fetch(`${url}/.well-known/oauth-protected-resource`);
    assert.equal((await own.json()).resource, `${url}/mcp`);
    const get = (host: string) =>
      sendRaw(
        port,
        `GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      );
    assert.match(await get(`[::1]:${port}`), /"resource":"http:\/\/\[::1\]:/);
    assert.equal(statusOf(await get("bridge.internal")), 404);
    assert.equal(statusOf(await get("evil.example")), 403);
    const refused = await rawPost(port, [
      "Host: bridge.internal",
      "Authorization: Bearer x",
    ]);
    assert.equal(statusOf(refused), 401);
    assert(!refused.includes("resource_metadata"));
  });
});

Deno.test("AUTH-11 a resource below a path prefix is described where RFC 9728 puts it", async () => {
  const resourceUrl = "https://bridge.test/cyberos/mcp";
  await withBridge({ handler: { resourceUrl } }, async ({ url, post }) => {
    const path = "/.well-known/oauth-protected-resource/cyberos/mcp";
    const response = await post(PING, { authorization: "" });
    await response.body?.cancel();
    assert(challengeOf(response).includes(`"https://bridge.test${path}"`));
    const metadata = await (await fetch(url + path)).json();
    assert.equal(metadata.resource, resourceUrl);
  });
});

Deno.test("AUTH-08 every bad credential is 401 with a challenge, never 403 or 500", async () => {
  await withBridge(CONFIGURED, async ({ port, harness }) => {
    const expired = await tokenWith({ exp: NOW_MS / 1000 - 60 });
    const foreign = await tokenWith({ aud: "plugin:other" });
    for (
      const credentials of [
        "Bearer ",
        "Bearer",
        "Bearer a.b",
        "Bearer a b",
        "Basic x",
        "",
        `Bearer ${"x".repeat(20_000)}`,
        "Bearer t\u00f6ken",
        `Bearer ${TOKEN.slice(0, -9)}`,
        `Bearer ${expired}`,
        `Bearer ${foreign}`,
        `Basic ${TOKEN}`,
        `Bearer Bearer ${TOKEN}`,
        `Bearer "${TOKEN}"`,
        TOKEN,
      ]
    ) {
      const answer = await rawPost(port, [`Authorization: ${credentials}`]);
      assert.equal(statusOf(answer), 401, credentials.slice(0, 40));
      assert.match(answer, /\r\nwww-authenticate: Bearer /i);
      assert.match(answer, /"authz_denied"/);
    }
    const twice = await rawPost(port, [
      `Authorization: Bearer ${TOKEN}`,
      `Authorization: Bearer ${TOKEN}`,
    ]);
    assert.equal(statusOf(twice), 401);
    for (const scheme of ["bearer", "BEARER", "Bearer "]) {
      const answer = await rawPost(port, [`Authorization: ${scheme} ${TOKEN}`]);
      assert.equal(statusOf(answer), 200, scheme);
    }
    assert.equal(harness.loads, 0);
  });
});

Deno.test("createHttpHandler() looks for tokens in the header only", async () => {
  await withBridge({}, async ({ url }) => {
    const response = await fetch(`${url}/mcp?access_token=${TOKEN}`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        cookie: `access_token=${TOKEN}`,
      },
      body: JSON.stringify({
        ...PING,
        access_token: TOKEN,
        params: { _meta: { token: TOKEN } },
      }),
    });
    assert.equal(response.status, 401);
    await response.body?.cancel();
  });
});

Deno.test("P2-FM06 P2-FM07 over HTTP: invalid_token with what to do", async () => {
  await withBridge(CONFIGURED, async ({ post }) => {
    const expired = await tokenWith({ exp: NOW_MS / 1000 - 60 });
    const late = await post(PING, { authorization: `Bearer ${expired}` });
    assert.equal(late.status, 401);
    assert.match(
      challengeOf(late),
      /^Bearer error="invalid_token", error_desc/,
    );
    assert.match((await late.json()).error.data.hint, /token expired/i);
    const forged = `${TOKEN.slice(0, -12)}AAAAAAAAAAAA`;
    const bad = await post(PING, { authorization: `Bearer ${forged}` });
    assert.equal(bad.status, 401);
    assert.match(challengeOf(bad), /error="invalid_token"/);
    const { error } = await bad.json();
    assert.match(error.data.hint, /re-authenticate/i);
    assert(!JSON.stringify(error).includes(forged.slice(0, 20)));
  });
});

Deno.test("P2-AC10 P2-FM08 AUTH-13 a missing scope is 403 with missing_scopes, before any stream", async () => {
  await withBridge(CONFIGURED, async ({ post, harness }) => {
    const token = await tokenWith({ scope: "cyberos:memory:read openid" });
    const call = toolCall("cyberos.memory.append_audit", {
      kind: "a",
      body: {},
    }, {
      _meta: { "mcp/sampling/elicit_confirm": true, progressToken: 1 },
    });
    for (
      const accept of [
        "application/json",
        "application/json, text/event-stream",
      ]
    ) {
      const response = await post(call, {
        authorization: `Bearer ${token}`,
        accept,
      });
      assert.equal(response.status, 403);
      assert.equal(response.headers.get("content-type"), "application/json");
      const { id, error } = await response.json();
      assert.equal(id, 1);
      assert.equal(error.code, -32000);
      assert.equal(error.data.class, "authz_denied");
      assert.deepEqual(error.data.missing_scopes, ["cyberos:memory:write"]);
      assert.match(challengeOf(response), /error="insufficient_scope"/);
      // AUTH-14: a client that replaces its scopes by these loses none of ours.
      assert.match(
        challengeOf(response),
        /scope="cyberos:memory:write cyberos:memory:read"/,
      );
    }
    const asTask = toolCall("cyberos.cuo.execute_workflow", {
      persona: "chief-technology-officer",
      workflow: "architect-new-system",
      inputs: {},
    }, { task: {} });
    const task = await post(asTask, { authorization: `Bearer ${token}` });
    assert.equal(task.status, 403);
    assert.match(challengeOf(task), /cyberos:cuo:execute cyberos:memory:write/);
    await task.body?.cancel();
    assert.equal(harness.loads, 0);
    const control = await post(call);
    assert.equal(control.status, 200);
    await control.body?.cancel();
    assert.equal(harness.upstreams.calls.length, 1);
  });
});

Deno.test("createHttpHandler() answers an outage of the keys with 503 and no challenge", async () => {
  await withBridge({}, async ({ post, jwks }) => {
    const { answer } = jwks;
    jwks.answer = 500;
    const response = await post(PING);
    assert.equal(response.status, 503);
    assert.equal(challengeOf(response), "");
    assert.equal(response.headers.get("retry-after"), "1");
    const { error } = await response.json();
    assert.equal(error.data.class, "upstream_unavailable");
    assert.equal(error.data.retryable, true);
    jwks.answer = answer;
  });
});
