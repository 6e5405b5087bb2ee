/** Forged and confused tokens. RFC 8725 §2 and §3; case AUTH-03. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac, createPublicKey } from "node:crypto";
import { CompactEncrypt, type JWK, SignJWT } from "jose";
import { createAuthenticator } from "../../../bridge/auth/authenticator.ts";
import { createRemoteKeys } from "../../../bridge/auth/jwks.ts";
import { BridgeError } from "../../../bridge/errors.ts";
import {
  fakeJwks,
  goodClaims,
  makeSigningKey,
  NOW_MS,
  signToken,
  TEST_ISSUER,
} from "../../support/tokens.ts";

const ours = await makeSigningKey("k1");
const attacker = await makeSigningKey("k1");
const elliptic = await makeSigningKey("ec", "ES256");
const clock = { now: () => NOW_MS };
const fetched: string[] = [];

function subject() {
  const jwks = fakeJwks([ours.publicJwk, elliptic.publicJwk]);
  const recording: typeof fetch = (input, init) => {
    fetched.push(String(input));
    return jwks.fetch(input, init);
  };
  return createAuthenticator({
    issuer: TEST_ISSUER,
    pluginId: "cyberos",
    resourceUrls: [],
    clock,
    algorithms: ["RS256", "ES256"],
    keys: createRemoteKeys({
      url: "https://issuer.test/jwks",
      clock,
      fetch: recording,
    }),
  });
}

async function refuse(token: string, what: string): Promise<void> {
  await assert.rejects(
    subject().authenticate(token),
    (error) => error instanceof BridgeError && error.code === "TOKEN_INVALID",
    what,
  );
}

function encode(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return Buffer.from(text).toString("base64url");
}

function assemble(header: unknown, signature: string | Uint8Array): string {
  return `${encode(header)}.${encode(goodClaims())}.${
    Buffer.from(signature as string).toString("base64url")
  }`;
}

Deno.test("AUTH-03 the control: tokens of both our keys pass", async () => {
  await subject().authenticate(await signToken(ours));
  await subject().authenticate(await signToken(elliptic));
});

Deno.test("AUTH-03 unsigned tokens are refused in every spelling of none", async () => {
  for (const alg of ["none", "None", "NONE", "nOnE", "", " none"]) {
    const head = encode({ alg, typ: "at+jwt", kid: "k1" });
    for (const tail of ["", "AA", "AAAA"]) {
      await refuse(`${head}.${encode(goodClaims())}.${tail}`, alg);
    }
  }
});

Deno.test("AUTH-03 HS256 keyed with the public key in any form is refused", async () => {
  const { publicJwk } = ours;
  const key = createPublicKey({
    key: publicJwk as Record<string, string>,
    format: "jwk",
  });
  const secrets = [
    key.export({ type: "spki", format: "pem" }),
    key.export({ type: "spki", format: "der" }),
    JSON.stringify(publicJwk),
    Buffer.from(publicJwk.n ?? "", "base64url"),
    "",
  ];
  for (const alg of ["HS256", "RS256"]) {
    const input = `${encode({ alg, typ: "at+jwt", kid: "k1" })}.${
      encode(goodClaims())
    }`;
    for (const secret of secrets) {
      const mac = createHmac("sha256", secret).update(input).digest();
      await refuse(`${input}.${mac.toString("base64url")}`, alg);
    }
  }
});

Deno.test("AUTH-03 keys that a header brings or points to are never used or fetched", async () => {
  fetched.length = 0;
  const url = "https://attacker.test/jwks";
  for (
    const header of [
      { jwk: attacker.publicJwk },
      { jku: url },
      { x5u: url, x5c: ["AAAA"] },
      { jku: url, kid: "other" },
      { kid: url },
      { kid: "../../../../dev/null" },
      { kid: "k1' OR '1'='1" },
      { kid: "k1\u0000" },
      { kid: "" },
      { kid: "__proto__" },
    ]
  ) {
    await refuse(await signToken(attacker, { header }), JSON.stringify(header));
  }
  assert.deepEqual([...new Set(fetched)], ["https://issuer.test/jwks"]);
  // The same members do no harm where our own key signed.
  await subject().authenticate(
    await signToken(ours, { header: { jwk: attacker.publicJwk, jku: url } }),
  );
  assert(!fetched.includes(url));
});

Deno.test("AUTH-03 algorithm and key must fit each other", async () => {
  await refuse(await signToken(ours, { header: { kid: "ec" } }), "RS256 on EC");
  await refuse(
    await signToken(elliptic, { header: { kid: "k1" } }),
    "ES256 on RSA",
  );
  for (const alg of ["RS384", "RS512", "PS256", "rs256"]) {
    const [, body, signature] = (await signToken(ours)).split(".");
    const head = encode({ alg, typ: "at+jwt", kid: "k1" });
    await refuse(`${head}.${body}.${signature}`, alg);
  }
});

Deno.test("AUTH-03 a critical extension is refused, an encrypted token too", async () => {
  const extended = await new SignJWT(goodClaims())
    .setProtectedHeader({
      alg: "RS256",
      typ: "at+jwt",
      kid: "k1",
      crit: ["urn:test"],
      "urn:test": true,
    }).sign(ours.privateKey, { crit: { "urn:test": true } });
  await refuse(extended, "crit");
  for (const crit of [[], null, "b64", ["b64"]]) {
    await refuse(assemble({ alg: "RS256", kid: "k1", crit }, "x"), "crit");
  }
  const secret = crypto.getRandomValues(new Uint8Array(32));
  const sealed = await new CompactEncrypt(
    new TextEncoder().encode(JSON.stringify(goodClaims())),
  ).setProtectedHeader({ alg: "dir", enc: "A256GCM" }).encrypt(secret);
  await refuse(sealed, "JWE");
});

Deno.test("AUTH-03 one changed bit anywhere in a token is refused", async () => {
  const token = await signToken(ours);
  const alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  for (let at = 0; at < token.length; at += 7) {
    const old = alphabet.indexOf(token[at] ?? "");
    if (old < 0) continue;
    const changed = token.slice(0, at) + alphabet[old ^ 32] +
      token.slice(at + 1);
    await refuse(changed, `at ${at}`);
  }
});

Deno.test("AUTH-03 headers and claims of the wrong shape are refused", async () => {
  for (
    const header of [
      [],
      null,
      "RS256",
      {},
      { alg: ["RS256"] },
      { alg: 256 },
      { alg: "RS256", kid: 1 },
      { alg: "RS256", kid: ["k1"] },
      { alg: "RS256", typ: ["at+jwt"] },
    ]
  ) await refuse(assemble(header, "x"), JSON.stringify(header));
  for (const payload of ["[]", "null", '"x"', "{", "1", "\uFEFF{}"]) {
    const head = encode({ alg: "RS256", kid: "k1", typ: "at+jwt" });
    await refuse(`${head}.${encode(payload)}.AAAA`, payload);
  }
});

Deno.test("AUTH-03 a private key in the set is used for its public half only", async () => {
  const { exportJWK, generateKeyPair } = await import("jose");
  const pair = await generateKeyPair("RS256", { extractable: true });
  const jwk: JWK = { ...await exportJWK(pair.privateKey), kid: "p" };
  const subject = createAuthenticator({
    issuer: TEST_ISSUER,
    pluginId: "cyberos",
    resourceUrls: [],
    clock,
    keys: createRemoteKeys({
      url: "https://issuer.test/jwks",
      clock,
      fetch: fakeJwks([jwk]).fetch,
    }),
  });
  const key = { privateKey: pair.privateKey, publicJwk: jwk };
  await subject.authenticate(
    await signToken(key, { header: { alg: "RS256" } }),
  );
});
