import assert from "node:assert/strict";
import { createAuthenticator } from "../../../bridge/auth/authenticator.ts";
import { createRemoteKeys } from "../../../bridge/auth/jwks.ts";
import { BridgeError } from "../../../bridge/errors.ts";
import {
  type FakeJwks,
  fakeJwks,
  makeSigningKey,
  NOW_MS,
  type SigningKey,
  signToken,
  TEST_ISSUER,
} from "../../support/tokens.ts";

const old = await makeSigningKey("old");
const successor = await makeSigningKey("new");
const sameName = await makeSigningKey("old");

function setUp(answer: FakeJwks["answer"]) {
  const jwks = fakeJwks(answer);
  const time = { nowMs: NOW_MS };
  const clock = { now: () => time.nowMs };
  const keys = createRemoteKeys({
    url: "https://issuer.test/jwks",
    clock,
    fetch: jwks.fetch,
  });
  const subject = createAuthenticator({
    issuer: TEST_ISSUER,
    pluginId: "cyberos",
    resourceUrls: [],
    clock,
    keys,
    memoEntries: 0,
  });
  const authenticate = async (key: SigningKey, kid?: string) => {
    const iat = Math.floor(time.nowMs / 1000);
    const token = await signToken(key, {
      claims: { iat, exp: iat + 600 },
      ...(kid === undefined ? {} : { header: { kid } }),
    });
    return await subject.authenticate(token);
  };
  const refusal = async (key: SigningKey, kid?: string) => {
    const error = await authenticate(key, kid).then(() => undefined, (e) => e);
    assert(error instanceof BridgeError, "was accepted");
    return error;
  };
  return { jwks, time, keys, authenticate, refusal };
}

Deno.test("createRemoteKeys() fetches once for many callers, and again after five minutes", async () => {
  const { jwks, time, authenticate } = setUp([old.publicJwk]);
  await Promise.all(Array.from({ length: 20 }, () => authenticate(old)));
  assert.equal(jwks.count, 1);
  time.nowMs += 230_000;
  await authenticate(old);
  assert.equal(jwks.count, 1);
  time.nowMs += 71_000;
  await authenticate(old);
  assert.equal(jwks.count, 2);
});

Deno.test("createRemoteKeys() fetches ahead so that nobody waits", async () => {
  const { jwks, time, keys } = setUp([old.publicJwk]);
  await keys.current();
  time.nowMs += 250_000;
  const answer = keys.current();
  assert(Array.isArray(answer), "had to wait");
  assert.equal(jwks.count, 2);
});

Deno.test("AUTH-05 a key rotated and used at once is taken, a withdrawn one refused", async () => {
  const { jwks, time, authenticate, refusal } = setUp([old.publicJwk]);
  await authenticate(old);
  assert.equal((await refusal(successor, "bogus")).code, "TOKEN_INVALID");
  time.nowMs += 1_000;
  jwks.answer = [old.publicJwk, successor.publicJwk];
  await authenticate(successor);
  jwks.answer = [successor.publicJwk];
  await authenticate(old);
  time.nowMs += 301_000;
  assert.equal((await refusal(old)).code, "TOKEN_INVALID");
});

Deno.test("AUTH-05 new material under an old kid is noticed", async () => {
  const { jwks, authenticate, refusal } = setUp([old.publicJwk]);
  await authenticate(old);
  jwks.answer = [sameName.publicJwk];
  await authenticate(sameName);
  assert.equal((await refusal(old)).code, "TOKEN_INVALID");
});

Deno.test("AUTH-05 unknown kids cannot flood the issuer, and are told when to come back", async () => {
  const { jwks, time, authenticate, refusal } = setUp([old.publicJwk]);
  await authenticate(old);
  for (let index = 0; index < 50; index++) {
    await refusal(successor, `bogus-${index}`);
  }
  assert.equal(jwks.count, 3);
  jwks.answer = [old.publicJwk, successor.publicJwk];
  const error = await refusal(successor);
  assert(error.retryAfterSeconds !== undefined);
  assert(error.retryAfterSeconds <= 10);
  assert.equal(jwks.count, 3);
  time.nowMs += error.retryAfterSeconds * 1000;
  await authenticate(successor);
  assert.equal(jwks.count, 4);
});

Deno.test("AUTH-06 keys of no use are skipped one by one", async () => {
  const { n } = old.publicJwk;
  const { kid: _, ...unnamed } = successor.publicJwk;
  const { authenticate } = setUp([
    { kty: "OKP", crv: "X25519", x: "AAAA", kid: "old" },
    { kty: "RSA", use: "enc", n, e: "AQAB", kid: "old" },
    { kty: "foo", kid: "old" },
    { kty: "RSA", kid: "old" },
    { kty: "RSA", n: "AQAB", e: "AQAB", kid: "old" },
    { kty: "RSA", n, e: "AA", kid: "old" },
    { kty: "EC", crv: "P-256", x: "AAAA", y: "AAAA", kid: "old" },
    { kty: "oct", k: "AAAA", alg: "HS256", kid: "old" },
    { ...old.publicJwk, alg: "RS512" },
    { ...old.publicJwk, key_ops: ["encrypt"] },
    { ...old.publicJwk, kid: 7 },
    sameName.publicJwk,
    unnamed,
    null,
    "x",
    7,
    [],
    old.publicJwk,
  ]);
  await authenticate(old);
  await authenticate(sameName);
});

Deno.test("AUTH-06 a key is used for what its set says it is for, and nothing else", async () => {
  for (
    const limits of [
      { use: "enc" },
      { alg: "RS512" },
      { key_ops: ["encrypt"] },
      { key_ops: "verify" },
    ]
  ) {
    const { refusal } = setUp([{ ...old.publicJwk, ...limits }]);
    assert.equal((await refusal(old)).code, "TOKEN_INVALID");
  }
  const { alg: _, use: __, ...bare } = old.publicJwk;
  await setUp([bare]).authenticate(old);
  await setUp([{ ...bare, key_ops: ["verify"] }]).authenticate(old);
});

Deno.test("createRemoteKeys() verifies a token without kid by any key that fits", async () => {
  const { refusal, jwks, authenticate } = setUp([
    sameName.publicJwk,
    old.publicJwk,
  ]);
  const unnamed = { ...old, publicJwk: { ...old.publicJwk, kid: undefined } };
  await authenticate(unnamed as unknown as SigningKey);
  jwks.answer = [sameName.publicJwk];
  const stranger = {
    ...successor,
    publicJwk: { ...old.publicJwk, kid: undefined },
  };
  const error = await refusal(stranger as unknown as SigningKey);
  assert.equal(error.code, "TOKEN_INVALID");
});

Deno.test("createRemoteKeys() answers an outage as unavailable, and recovers by itself", async () => {
  for (
    const outage of [
      new TypeError("network"),
      500,
      404,
      302,
      "<html>",
      "[]",
      "{}",
      '{"keys":{}}',
      "x".repeat(600_000),
      "\u00ff".repeat(10),
    ]
  ) {
    const { jwks, time, keys, authenticate, refusal } = setUp(outage);
    const error = await refusal(old);
    assert.equal(error.code, "KEYS_UNAVAILABLE");
    assert.equal(error.retryable, true);
    assert(!/network|html|issuer\.test/.test(error.message + error.hint));
    const signal = AbortSignal.timeout(1_000);
    assert.equal((await keys.status(signal)).state, "down");
    // Within the back-off nobody asks again.
    await refusal(old);
    assert.equal(jwks.count, 1);
    jwks.answer = [old.publicJwk];
    time.nowMs += 600;
    await authenticate(old);
    assert.equal((await keys.status(signal)).state, "ok");
  }
});

Deno.test("createRemoteKeys() reads no key set beyond its bound", async () => {
  const text = JSON.stringify({ keys: [old.publicJwk] });
  await setUp(text + " ".repeat(100_000)).authenticate(old);
  const { refusal } = setUp(text + " ".repeat(600_000));
  assert.equal((await refusal(old)).code, "KEYS_UNAVAILABLE");
});

Deno.test("createRemoteKeys() serves the present keys through a short outage, not a long one", async () => {
  const { jwks, time, authenticate, refusal } = setUp([old.publicJwk]);
  await authenticate(old);
  jwks.answer = 503;
  time.nowMs += 250_000;
  await authenticate(old);
  time.nowMs += 51_000;
  assert.equal((await refusal(old)).code, "KEYS_UNAVAILABLE");
});

Deno.test("createRemoteKeys() lets one caller leave without ending the fetch for others", async () => {
  const answer = Promise.withResolvers<Response>();
  const keys = createRemoteKeys({
    url: "https://issuer.test/jwks",
    clock: { now: () => NOW_MS },
    fetch: () => answer.promise,
  });
  const leaving = new AbortController();
  const left = Promise.resolve(keys.current(leaving.signal));
  const staying = Promise.resolve(keys.current());
  leaving.abort(new Error("left"));
  await assert.rejects(left, /left/);
  answer.resolve(Response.json({ keys: [old.publicJwk] }));
  assert.equal((await staying).length, 1);
});

Deno.test("createRemoteKeys() gives up on an endpoint that never ends its answer", async () => {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => new Response(new ReadableStream({ start() {} })),
  );
  const keys = createRemoteKeys({
    url: `http://127.0.0.1:${server.addr.port}/`,
    clock: { now: () => NOW_MS },
    timeoutMs: 150,
  });
  await assert.rejects(
    Promise.resolve(keys.current()),
    (error) =>
      error instanceof BridgeError && error.code === "KEYS_UNAVAILABLE",
  );
  await server.shutdown();
});
