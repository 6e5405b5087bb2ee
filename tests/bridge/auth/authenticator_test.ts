import assert from "node:assert/strict";
import {
  type AuthenticatorOptions,
  createAuthenticator,
} from "../../../bridge/auth/authenticator.ts";
import { createRemoteKeys } from "../../../bridge/auth/jwks.ts";
import { BridgeError, type BridgeErrorCode } from "../../../bridge/errors.ts";
import {
  fakeJwks,
  goodClaims,
  makeSigningKey,
  NOW_MS,
  signToken,
  TENANT_A,
  TEST_ISSUER,
  type TokenParts,
} from "../../support/tokens.ts";

const RESOURCE = "https://bridge.test/mcp";
const NOW = NOW_MS / 1000;
const key = await makeSigningKey("k1");
const clock = { now: () => NOW_MS };

function authenticator(more: Partial<AuthenticatorOptions> = {}) {
  return createAuthenticator({
    issuer: TEST_ISSUER,
    pluginId: "cyberos",
    resourceUrls: [RESOURCE],
    clock,
    keys: createRemoteKeys({
      url: "https://issuer.test/jwks",
      clock,
      fetch: fakeJwks([key.publicJwk]).fetch,
    }),
    ...more,
  });
}

const subject = authenticator();

async function accept(parts: TokenParts) {
  return await subject.authenticate(await signToken(key, parts));
}

async function refuse(
  parts: TokenParts | string,
  code: BridgeErrorCode = "TOKEN_INVALID",
): Promise<BridgeError> {
  const token = typeof parts === "string" ? parts : await signToken(key, parts);
  let error: unknown;
  try {
    await subject.authenticate(token);
  } catch (thrown) {
    error = thrown;
  }
  assert(error instanceof BridgeError, `accepted: ${JSON.stringify(parts)}`);
  assert.equal(error.code, code, JSON.stringify(parts));
  assert(!error.message.includes(token) || token.length < 8);
  return error;
}

function claims(more: Record<string, unknown>): TokenParts {
  return { claims: more };
}

Deno.test("authenticate() reads subject, tenant and scopes from a good token", async () => {
  assert.deepEqual(await accept({}), {
    subject: "user-1",
    tenantId: TENANT_A,
    scopes: new Set(["cyberos:cuo:list", "cyberos:memory:read"]),
  });
});

Deno.test("authenticate() takes each of the three scope claims, and all of them together", async () => {
  const only = { scope: undefined };
  const scopes = async (
    more: Record<string, unknown>,
  ) => [...(await accept(claims(more))).scopes];
  assert.deepEqual(await scopes({ scope: "a:b  c:d" }), ["a:b", "c:d"]);
  assert.deepEqual(await scopes({ ...only, scope_grants: ["a"] }), ["a"]);
  assert.deepEqual(await scopes({ ...only, scp: ["a", "b"] }), ["a", "b"]);
  assert.deepEqual(await scopes({ ...only, scp: "a b" }), ["a", "b"]);
  assert.deepEqual(await scopes({ scope: "a", scp: ["b"] }), ["a", "b"]);
  assert.deepEqual(await scopes({ ...only }), []);
  for (
    const scope of [["a"], {}, 1, true, null]
  ) await refuse(claims({ scope }));
  for (const scp of [[1], ["a b"], [""], [["a"]], {}, 7, null]) {
    await refuse(claims({ scp }));
    await refuse(claims({ scope_grants: scp }));
  }
  const many = Array.from({ length: 300 }, (_, index) => `s${index}`);
  await refuse(claims({ scp: many }));
});

Deno.test("AUTH-01 a token of another audience is refused, ours alone or in a list passes", async () => {
  for (
    const aud of [
      "plugin:cyberos",
      RESOURCE,
      ["x", RESOURCE],
      ["plugin:cyberos", "plugin:other"],
    ]
  ) await accept(claims({ aud }));
  for (
    const aud of [
      undefined,
      "https://other.example/mcp",
      `${RESOURCE}/extra`,
      `${RESOURCE}/`,
      [],
      "https://bridge.test",
      "HTTPS://BRIDGE.TEST/mcp",
      "https://Bridge.test/mcp",
      "plugin:cyberos ",
      "plugin:",
      "plugin:cyber",
      [["plugin:cyberos"]],
      { 0: "plugin:cyberos" },
      "",
      null,
      0,
    ]
  ) await refuse(claims({ aud }));
  await refuse(claims({ aud: undefined, resource: RESOURCE }));
});

Deno.test("AUTH-01 a token for another plugin is refused with a hint of its own", async () => {
  const error = await refuse(claims({ aud: ["plugin:other"] }));
  assert.match(error.hint, /plugin:cyberos/);
  const plain = await refuse(claims({ aud: "https://other.example/mcp" }));
  assert.doesNotMatch(plain.hint, /plugin:/);
});

Deno.test("AUTH-02 a token without sane times, subject or tenant is refused", async () => {
  for (
    const bad of [
      { exp: undefined },
      { exp: String(NOW + 600) },
      { exp: -1 },
      { exp: 1e20 },
      { exp: null },
      { exp: [NOW + 600] },
      { nbf: NOW + 120 },
      { nbf: "0" },
      { iat: NOW + 120 },
      { iat: "1" },
      { iat: undefined },
      { sub: undefined },
      { sub: "" },
      { sub: 7 },
      { sub: ["user-1"] },
      { sub: "a\nb" },
      { sub: "a\u202Eb" },
      { sub: "x".repeat(257) },
      { tenant_id: undefined },
    ]
  ) await refuse(claims(bad));
  await accept(claims({ nbf: NOW - 10, sub: "x".repeat(256) }));
  await accept(claims({ sub: "người dùng|1@example.com" }));
});

Deno.test("AUTH-03 an ID token, or another kind of JWT, is no access token", async () => {
  const idToken = { scope: undefined, nonce: "n" };
  await refuse({ header: { typ: "JWT" }, claims: idToken });
  await refuse({ header: { typ: "JWT" }, claims: { scope: undefined } });
  await refuse({ header: { typ: undefined }, claims: { at_hash: "x" } });
  await refuse({ header: { typ: "logout+jwt" } });
  await refuse({ header: { typ: "dpop+jwt" } });
  await refuse({ header: { typ: 7 } });
  for (const typ of ["JWT", "jwt", undefined, "AT+JWT", "application/at+jwt"]) {
    await accept({ header: { typ } });
  }
});

Deno.test("AUTH-08 whatever is no JWT is refused as an invalid token, never as a crash", async () => {
  const good = await signToken(key);
  for (
    const token of [
      "a.b",
      "a.b.c",
      "....",
      "a.b.c.d.e",
      `${good}\n`,
      ` ${good}`,
      `${good}=`,
      good.replaceAll(".", " "),
      `${good}.x`,
      good.slice(0, -5),
      "x".repeat(100 * 1024),
      "tökén.tökén.tökén",
      `${btoa("[]")}.${btoa("{}")}.AAAA`.replaceAll("=", ""),
      `${btoa('{"alg":"RS256"}').replaceAll("=", "")}.${"_w"}.AAAA`,
      `.${good.split(".")[1]}.${good.split(".")[2]}`,
    ]
  ) await refuse(token);
  for (const none of [undefined, ""]) {
    await assert.rejects(
      subject.authenticate(none),
      (error) => error instanceof BridgeError && error.code === "TOKEN_MISSING",
    );
  }
});

Deno.test("AUTH-10 the tenant comes from one well-formed claim", async () => {
  for (
    const tenant_id of [
      "",
      null,
      [TENANT_A],
      ["A", "B"],
      "a",
      `{${TENANT_A}}`,
      `urn:uuid:${TENANT_A}`,
      TENANT_A.replaceAll("-", ""),
      `${TENANT_A} `,
      `${TENANT_A}\n`,
      { id: TENANT_A },
    ]
  ) await refuse(claims({ tenant_id }));
  const upper = "ABCDEFAB-1111-4111-8111-111111111111";
  const principal = await accept(claims({ tenant_id: upper }));
  assert.equal(principal.tenantId, upper.toLowerCase());
});

Deno.test("AUTH-15 clocks may differ by 30 seconds and no more", async () => {
  for (const ahead of [1, 29, 30]) {
    await accept(claims({ nbf: NOW + ahead, iat: NOW + ahead }));
  }
  for (const ahead of [31, 120]) {
    await refuse(claims({ nbf: NOW + ahead }));
    await refuse(claims({ iat: NOW + ahead }));
  }
  for (const ago of [1, 29]) await accept(claims({ exp: NOW - ago }));
  for (const ago of [30, 31, 3600]) {
    await refuse(claims({ exp: NOW - ago }), "TOKEN_EXPIRED");
  }
  for (const clockToleranceSeconds of [61, 600, -1, NaN]) {
    assert.throws(() => authenticator({ clockToleranceSeconds }), RangeError);
  }
  authenticator({ clockToleranceSeconds: 60 });
});

Deno.test("AUTH-16 the issuer is compared byte for byte", async () => {
  for (
    const iss of [
      undefined,
      `${TEST_ISSUER}/`,
      "https://ISSUER.test",
      "https://issuer.test:443",
      "http://issuer.test",
      "https://issuer.test/sibling",
      [TEST_ISSUER],
      "",
      null,
    ]
  ) await refuse(claims({ iss }));
});

Deno.test("createAuthenticator() refuses algorithms that forge", () => {
  for (const name of ["none", "HS256", "HS512", "", "rs256", "RS256 ", "dir"]) {
    assert.throws(() => authenticator({ algorithms: [name] }), RangeError);
  }
  assert.throws(() => authenticator({ algorithms: [] }), RangeError);
  authenticator({ algorithms: ["RS256", "ES256", "EdDSA"] });
});

Deno.test("authenticate() takes the other asymmetric algorithms where they are allowed", async () => {
  for (const algorithm of ["ES256", "EdDSA", "PS256", "RS512"]) {
    const other = await makeSigningKey("other", algorithm);
    const options = {
      keys: createRemoteKeys({
        url: "https://issuer.test/jwks",
        clock,
        fetch: fakeJwks([key.publicJwk, other.publicJwk]).fetch,
      }),
    };
    const token = await signToken(other);
    const allowing = authenticator({ ...options, algorithms: [algorithm] });
    assert.equal((await allowing.authenticate(token)).subject, "user-1");
    await assert.rejects(
      authenticator(options).authenticate(token),
      /algorithm/,
    );
    const [head, body, signature = ""] = token.split(".");
    const swapped = signature.startsWith("A") ? "B" : "A";
    const forged = `${head}.${body}.${swapped}${signature.slice(1)}`;
    await assert.rejects(allowing.authenticate(forged), /signature/);
  }
});

Deno.test("authenticate() remembers arithmetic only: claims are judged anew", async () => {
  let nowMs = NOW_MS;
  const moving = { now: () => nowMs };
  const jwks = fakeJwks([key.publicJwk]);
  const keys = createRemoteKeys({
    url: "https://issuer.test/jwks",
    clock: moving,
    fetch: jwks.fetch,
  });
  const memoed = authenticator({ clock: moving, keys });
  const token = await signToken(key);
  await memoed.authenticate(token);
  await memoed.authenticate(token);
  // Expired meanwhile: the remembered signature changes nothing.
  nowMs += 700_000;
  await assert.rejects(memoed.authenticate(token), /expired/);
  // The key left the set: the remembered signature of it is worth nothing.
  nowMs = NOW_MS;
  const fresh = authenticator({ clock: moving, keys });
  await fresh.authenticate(token);
  const successor = await makeSigningKey("k1");
  jwks.answer = [successor.publicJwk];
  nowMs += 301_000;
  await assert.rejects(fresh.authenticate(token), /signature/);
});

Deno.test("P2-FM06 a signature that is not valid: authz_denied, re-authenticate", async () => {
  const [head, body] = (await signToken(key)).split(".");
  const stranger = await makeSigningKey("k1");
  const error = await refuse(
    `${head}.${body}.${(await signToken(stranger)).split(".")[2]}`,
  );
  assert.equal(error.class, "authz_denied");
  assert.match(error.hint, /re-authenticate/i);
});

Deno.test("P2-FM07 an expired token: authz_denied, token expired", async () => {
  const error = await refuse(claims({ exp: NOW - 60 }), "TOKEN_EXPIRED");
  assert.equal(error.class, "authz_denied");
  assert.match(error.hint, /token expired/i);
});

Deno.test("goodClaims() is the control: changing nothing passes", async () => {
  await accept(claims(goodClaims()));
});
