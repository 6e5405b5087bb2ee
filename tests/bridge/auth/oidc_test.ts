/** The whole way of a client: refused, led to the provider, logged in, served. */
import assert from "node:assert/strict";
import { createAuthenticator } from "../../../bridge/auth/authenticator.ts";
import { checkIssuerMetadata } from "../../../bridge/auth/issuer_metadata.ts";
import { createRemoteKeys } from "../../../bridge/auth/jwks.ts";
import { ALL_SCOPES } from "../../../schema/tools.ts";
import { startOidcProvider } from "../../support/oidc.ts";
import { TENANT_A } from "../../support/tokens.ts";
import { toolCall, withBridge } from "../http/support.ts";

const RESOURCE = "https://bridge.test/mcp";
const READ = "cyberos:cuo:list cyberos:memory:read";
const clock = { now: () => Date.now() };

Deno.test({
  name:
    "a client without a token finds the provider, logs in and calls, with real tokens over HTTP",
  // The provider keeps timers of its own.
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const provider = await startOidcProvider({
      resource: RESOURCE,
      scopes: ALL_SCOPES,
    });
    const authenticator = createAuthenticator({
      issuer: provider.issuer,
      pluginId: "cyberos",
      resourceUrls: [RESOURCE],
      clock,
      keys: createRemoteKeys({ url: provider.jwksUrl, clock }),
    });
    const handler = {
      authenticator,
      resourceUrl: RESOURCE,
      authorizationServers: [provider.issuer],
    };
    await withBridge({ handler }, async ({ url, post, harness }) => {
      const call = toolCall("cyberos.cuo.list_personas");
      const bare = await post(call, { authorization: "" });
      assert.equal(bare.status, 401);
      const challenge = bare.headers.get("www-authenticate") ?? "";
      await bare.body?.cancel();
      const metadataUrl = /resource_metadata="([^"]+)"/.exec(challenge)?.[1];
      const { pathname } = new URL(metadataUrl ?? "");
      const metadata = await (await fetch(url + pathname)).json();
      assert.equal(metadata.resource, RESOURCE);
      const [issuer] = metadata.authorization_servers;
      const discovery = await (await fetch(
        `${issuer}/.well-known/openid-configuration`,
      )).json();
      assert.equal(discovery.issuer, provider.issuer);
      assert.equal(discovery.jwks_uri, provider.jwksUrl);

      const { accessToken, idToken } = await provider.personTokens(READ);
      const machineToken = await provider.machineToken(READ);
      const send = (token: string, message: unknown = call) =>
        post(message, { authorization: `Bearer ${token}` });
      for (const token of [accessToken, machineToken]) {
        const response = await send(token);
        assert.equal(response.status, 200);
        assert(Array.isArray(
          (await response.json()).result.structuredContent.personas,
        ));
      }
      assert.equal(harness.upstreams.calls[0]?.tenantId, TENANT_A);

      const principal = await authenticator.authenticate(accessToken);
      assert.equal(principal.subject, "person-1");
      assert.deepEqual([...principal.scopes].sort(), READ.split(" ").sort());

      const refused = await send(idToken);
      assert.equal(refused.status, 401, "an ID token is no access token");
      await refused.body?.cancel();
      const beyond = await send(
        accessToken,
        toolCall("cyberos.cuo.route", { query: "x" }),
      );
      assert.equal(beyond.status, 403);
      await beyond.body?.cancel();
    });
    const right = await checkIssuerMetadata({ issuer: provider.issuer });
    assert.equal(right.state, "ok");
    const slash = await checkIssuerMetadata({ issuer: `${provider.issuer}/` });
    assert.equal(slash.state, "down", "AUTH-16: found before the start");
    await provider.close();
    const gone = await checkIssuerMetadata({ issuer: provider.issuer });
    assert.equal(gone.state, "degraded");
  },
});

Deno.test({
  name: "a token for another resource of the same provider is refused",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const provider = await startOidcProvider({
      resource: "https://other.test/mcp",
      scopes: ALL_SCOPES,
    });
    const authenticator = createAuthenticator({
      issuer: provider.issuer,
      pluginId: "cyberos",
      resourceUrls: [RESOURCE],
      clock,
      keys: createRemoteKeys({ url: provider.jwksUrl, clock }),
    });
    await assert.rejects(
      authenticator.authenticate(await provider.machineToken(READ)),
      { code: "TOKEN_INVALID" },
    );
    await provider.close();
  },
});
