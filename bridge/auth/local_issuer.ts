/**
 * A token issuer in this process, for embedded mode: real RS256 tokens, judged
 * by the same authenticator as any other issuer's.
 *
 * Source: PRODUCT decision D10.
 */
import type { CryptoKey, JWK } from "jose";
import type { JsonObject } from "../../schema/json.ts";
import { BridgeError } from "../errors.ts";
import type { Clock } from "../ports.ts";
import {
  CONFIRMATION_MAX_AGE_SECONDS,
  CONFIRMATION_TYPE,
  digestArguments,
} from "./confirmations.ts";
import type { KeySource } from "./key_source.ts";
import type { KeyStore } from "./key_store.ts";
import {
  createVerificationKey,
  type VerificationKey,
} from "./verification_key.ts";

/** `iss` of the tokens made here. No such issuer can exist on the network. */
export const LOCAL_ISSUER = "urn:cyberos:embedded";

/** What an access token is made of. */
export interface AccessTokenRequest {
  readonly subject: string;
  /** UUID. */
  readonly tenantId: string;
  readonly scopes: readonly string[];
  readonly expiresInSeconds: number;
}

/** What a confirmation token is made of. */
export interface ConfirmationRequest {
  readonly subject: string;
  readonly tenantId: string;
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** Makes tokens, and gives the keys to check them. */
export interface LocalIssuer {
  readonly issuer: string;
  /** For the authenticator; nothing goes over a network. */
  readonly keys: KeySource;
  /** The public JWK set, as an issuer would serve it. */
  publicKeySet(): Promise<{ readonly keys: readonly JsonObject[] }>;
  mintAccessToken(request: AccessTokenRequest): Promise<string>;
  mintConfirmationToken(request: ConfirmationRequest): Promise<string>;
}

/** Options of {@link createLocalIssuer}. */
export interface LocalIssuerOptions {
  /** Processes with the same store make tokens for one another. */
  readonly store: KeyStore;
  readonly pluginId: string;
  readonly clock: Clock;
}

interface Signer {
  readonly key: CryptoKey;
  readonly publicJwk: JWK;
}

/** Creates the issuer; its key is read or made at the first use. */
export function createLocalIssuer(options: LocalIssuerOptions): LocalIssuer {
  const load = once(() => loadSigner(options.store));
  const keys = once(() => loadKeys(load));
  const sign = async (type: string, claims: JsonObject, seconds: number) => {
    const { SignJWT } = await import("jose");
    const { key, publicJwk } = await load();
    const now = Math.floor(options.clock.now() / 1000);
    return await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: "RS256", typ: type, kid: publicJwk.kid })
      .setIssuer(LOCAL_ISSUER).setAudience(`plugin:${options.pluginId}`)
      .setIssuedAt(now).setExpirationTime(now + seconds)
      .setJti(crypto.randomUUID()).sign(key);
  };
  return {
    issuer: LOCAL_ISSUER,
    keys: {
      current: keys,
      refetch: async () => ({ keys: await keys() }),
      status: () =>
        Promise.resolve({ name: "token issuer keys", state: "ok" as const }),
    },
    publicKeySet: async () => ({
      keys: [(await load()).publicJwk as JsonObject],
    }),
    mintAccessToken: ({ subject, tenantId, scopes, expiresInSeconds }) =>
      sign("at+jwt", {
        sub: subject,
        tenant_id: tenantId,
        client_id: "cyberos-embedded",
        scope: scopes.join(" "),
      }, expiresInSeconds),
    mintConfirmationToken: async ({ subject, tenantId, tool, ...call }) =>
      await sign(CONFIRMATION_TYPE, {
        sub: subject,
        tenant_id: tenantId,
        tool,
        arguments_sha256: await digestArguments(call.arguments),
      }, CONFIRMATION_MAX_AGE_SECONDS),
  };
}

/** Keeps a success; a failure is tried again by the next caller. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () =>
    kept ??= work().catch((error) => {
      kept = undefined;
      throw error;
    });
}

async function loadKeys(
  load: () => Promise<Signer>,
): Promise<readonly VerificationKey[]> {
  try {
    const key = await createVerificationKey({ ...(await load()).publicJwk });
    return key ? [key] : [];
  } catch (cause) {
    throw new BridgeError(
      "KEYS_UNAVAILABLE",
      "Cannot check the token: the local issuer's key cannot be read",
      { cause, hint: "Check the data folder that --data-dir names." },
    );
  }
}

async function loadSigner(store: KeyStore): Promise<Signer> {
  const { calculateJwkThumbprint, importJWK } = await import("jose");
  const text = await store.load() ?? await store.create(await makeKey());
  const jwk = JSON.parse(text) as JWK;
  const key = await importJWK(jwk, "RS256") as CryptoKey;
  const { kty, n, e } = jwk;
  const kid = await calculateJwkThumbprint({ kty, n, e } as JWK);
  return { key, publicJwk: { kty, n, e, kid, alg: "RS256", use: "sig" } };
}

async function makeKey(): Promise<string> {
  const { exportJWK, generateKeyPair } = await import("jose");
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}
