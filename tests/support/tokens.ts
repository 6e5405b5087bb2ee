/** Real tokens of a test issuer, good or spoiled at will. */
import type { CryptoKey, JWK } from "jose";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

/** A tenant for tests. */
export const TENANT_A = "11111111-1111-4111-8111-111111111111";
/** Another one. */
export const TENANT_B = "22222222-2222-4222-8222-222222222222";
/** `iss` of {@link TestIssuer}'s tokens. */
export const TEST_ISSUER = "https://issuer.test";
/** A fixed moment, epoch milliseconds. */
export const NOW_MS = 1_800_000_000_000;

/** A signing key with its public JWK. */
export interface SigningKey {
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** Generates a signing key. */
export async function makeSigningKey(
  kid: string,
  algorithm = "RS256",
): Promise<SigningKey> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(pair.publicKey);
  return {
    privateKey: pair.privateKey,
    publicJwk: { ...jwk, kid, alg: algorithm, use: "sig" },
  };
}

/** What {@link signToken} may be told. */
export interface TokenParts {
  readonly header?: Readonly<Record<string, unknown>>;
  /** Over {@link goodClaims}; `undefined` drops a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The claims of a token that the bridge takes at {@link NOW_MS}. */
export function goodClaims(nowMs: number = NOW_MS): Record<string, unknown> {
  const now = Math.floor(nowMs / 1000);
  return {
    iss: TEST_ISSUER,
    aud: "plugin:cyberos",
    sub: "user-1",
    tenant_id: TENANT_A,
    scope: "cyberos:cuo:list cyberos:memory:read",
    iat: now,
    exp: now + 600,
  };
}

/** Signs a token. */
export function signToken(
  key: SigningKey,
  parts: TokenParts = {},
): Promise<string> {
  return new SignJWT({ ...goodClaims(), ...parts.claims })
    .setProtectedHeader({
      alg: key.publicJwk.alg ?? "RS256",
      typ: "at+jwt",
      kid: key.publicJwk.kid,
      ...parts.header,
    })
    .sign(key.privateKey, {
      crit: { "urn:test": true },
    });
}

/** A JWKS endpoint without a network. */
export interface FakeJwks {
  readonly fetch: typeof fetch;
  /** What the endpoint answers now; a number is a bare status, an Error a dead network. */
  answer: readonly unknown[] | number | string | Error;
  /** How often it was asked. */
  count: number;
}

/** Creates the endpoint. */
export function fakeJwks(answer: FakeJwks["answer"]): FakeJwks {
  const endpoint: FakeJwks = {
    answer,
    count: 0,
    fetch: () => {
      endpoint.count++;
      const { answer } = endpoint;
      if (answer instanceof Error) return Promise.reject(answer);
      if (typeof answer === "number") {
        return Promise.resolve(new Response("no", { status: answer }));
      }
      if (typeof answer === "string") {
        return Promise.resolve(new Response(answer));
      }
      return Promise.resolve(Response.json({ keys: answer }));
    },
  };
  return endpoint;
}
