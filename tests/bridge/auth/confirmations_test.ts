import assert from "node:assert/strict";
import type { JsonObject } from "../../../schema/json.ts";
import type { ToolName } from "../../../schema/tools.ts";
import { createAuthenticator } from "../../../bridge/auth/authenticator.ts";
import {
  createConfirmations,
  digestArguments,
} from "../../../bridge/auth/confirmations.ts";
import { createRemoteKeys } from "../../../bridge/auth/jwks.ts";
import {
  fakeJwks,
  makeSigningKey,
  NOW_MS,
  type SigningKey,
  signToken,
  TENANT_A,
  TENANT_B,
  TEST_ISSUER,
} from "../../support/tokens.ts";

const key = await makeSigningKey("k1");
const NOW = NOW_MS / 1000;
const clock = { now: () => NOW_MS };
const options = {
  issuer: TEST_ISSUER,
  pluginId: "cyberos",
  resourceUrls: [],
  clock,
  keys: createRemoteKeys({
    url: "https://issuer.test/jwks",
    clock,
    fetch: fakeJwks([key.publicJwk]).fetch,
  }),
};
const subject = createConfirmations(options);
const tool: ToolName = "cyberos.memory.append_audit";
const principal = {
  subject: "user-1",
  tenantId: TENANT_A,
  scopes: new Set<string>(),
};
const args: JsonObject = { kind: "decision", body: { b: 1.50, a: "ấ", c: [] } };

async function confirmation(
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
  by: SigningKey = key,
): Promise<string> {
  return await signToken(by, {
    header: { typ: "cyberos-confirmation+jwt", ...header },
    claims: {
      scope: undefined,
      tool,
      arguments_sha256: await digestArguments(args),
      exp: undefined,
      ...claims,
    },
  });
}

async function confirms(
  token: string,
  call: Partial<Parameters<typeof subject.verify>[1]> = {},
): Promise<boolean> {
  return await subject.verify(token, {
    principal,
    tool,
    arguments: args,
    ...call,
  });
}

Deno.test("AUTH-21 a confirmation holds for its call, whatever the order of members", async () => {
  assert(await confirms(await confirmation()));
  const reordered = { body: { a: "ấ", c: [], b: 1.5 }, kind: "decision" };
  assert(await confirms(await confirmation(), { arguments: reordered }));
  for (const typ of ["JWT", undefined]) {
    assert(await confirms(await confirmation({}, { typ })));
  }
});

Deno.test("AUTH-21 a confirmation holds for no other arguments, tool, subject or tenant", async () => {
  const token = await confirmation();
  for (
    const changed of [
      { ...args, kind: "decisioN" },
      { ...args, body: { b: 1.5, a: "a", c: [] } },
      { ...args, extra: null },
      { kind: "decision" },
      {},
    ]
  ) assert(!await confirms(token, { arguments: changed }));
  assert(!await confirms(token, { tool: "cyberos.skill.invoke_skill" }));
  for (const other of [{ subject: "user-2" }, { tenantId: TENANT_B }]) {
    assert(!await confirms(token, { principal: { ...principal, ...other } }));
  }
});

Deno.test("AUTH-21 a confirmation holds for five minutes", async () => {
  assert(await confirms(await confirmation({ iat: NOW - 299 })));
  for (
    const times of [
      { iat: NOW - 331 },
      { iat: NOW - 86_400 },
      { iat: NOW + 60 },
      { iat: undefined },
      { iat: String(NOW) },
      { exp: NOW - 31 },
      { exp: "never" },
    ]
  ) assert(!await confirms(await confirmation(times)), JSON.stringify(times));
});

Deno.test("AUTH-21 forged, foreign and confused tokens confirm nothing", async () => {
  const stranger = await makeSigningKey("k1");
  const claims: Record<string, unknown>[] = [
    { iss: "https://other.test" },
    { aud: "plugin:other" },
    { tool: undefined },
    { tool: [tool] },
    { sub: undefined },
    { tenant_id: undefined },
    { arguments_sha256: undefined },
    { arguments_sha256: "" },
    { arguments_sha256: (await digestArguments(args)).toUpperCase() },
  ];
  for (const bad of claims) assert(!await confirms(await confirmation(bad)));
  assert(!await confirms(await confirmation({}, {}, stranger)));
  assert(!await confirms(await confirmation({}, { typ: "at+jwt" })));
  assert(!await confirms(await signToken(key)), "an access token");
  for (const text of ["", "true", "a.b.c", "x".repeat(100_000)]) {
    assert(!await confirms(text));
  }
});

Deno.test("AUTH-21 a confirmation is no access token", async () => {
  const authenticator = createAuthenticator(options);
  for (const typ of ["cyberos-confirmation+jwt", "JWT"]) {
    const token = await confirmation({ exp: NOW + 60 }, { typ });
    await assert.rejects(authenticator.authenticate(token), {
      code: "TOKEN_INVALID",
    });
  }
});

Deno.test("createConfirmations() confirms nothing while the keys cannot be had", async () => {
  const keys = createRemoteKeys({
    url: "https://issuer.test/jwks",
    clock,
    fetch: fakeJwks(503).fetch,
  });
  const offline = createConfirmations({ ...options, keys });
  const call = { principal, tool, arguments: args };
  assert.equal(await offline.verify(await confirmation(), call), false);
});
