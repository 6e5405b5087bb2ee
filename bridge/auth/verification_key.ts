/**
 * A key of a JWK set, made ready to verify with.
 *
 * Source: RFC 7517 §4 and §5; RFC 7518 §3.1.
 */
import type { JWK } from "jose";
import type { CompactJws } from "./compact_jws.ts";
import {
  parseRsaPublicKey,
  type RsaHash,
  verifyRsaSignature,
} from "./rsa_signature.ts";

/** One public key that can verify. */
export interface VerificationKey {
  readonly keyId: string | undefined;
  /** RFC 7638, SHA-256: names the key's material. */
  readonly thumbprint: string;
  /** Whether the key may be used with the algorithm. */
  supports(algorithm: string): boolean;
  /** Whether the signature is this key's. Never throws. */
  verify(jws: CompactJws): boolean | Promise<boolean>;
}

const RSA_HASHES: Readonly<Record<string, RsaHash | undefined>> = {
  RS256: "sha256",
  RS384: "sha384",
  RS512: "sha512",
};

/** The asymmetric algorithms that an operator may allow, with the key type each one needs. */
const KEY_TYPES: Readonly<Record<string, string>> = {
  RS256: "RSA",
  RS384: "RSA",
  RS512: "RSA",
  PS256: "RSA",
  PS384: "RSA",
  PS512: "RSA",
  ES256: "EC P-256",
  ES384: "EC P-384",
  ES512: "EC P-521",
  EdDSA: "OKP Ed25519",
  Ed25519: "OKP Ed25519",
};

/** Names of {@link KEY_TYPES}, for the configuration's check and its message. */
export const SUPPORTED_ALGORITHMS: readonly string[] = Object.keys(KEY_TYPES);

/** A member of a JWK set: a stranger's object until it is checked. */
export type Jwk = Readonly<Record<string, unknown>>;

/**
 * Makes a key ready.
 *
 * @returns `undefined` for a key that is of no use for signatures here: unknown,
 * for encryption, symmetric, too small or broken (RFC 7517 §5 says to ignore it).
 */
export async function createVerificationKey(
  jwk: Jwk,
): Promise<VerificationKey | undefined> {
  if (jwk.use !== undefined && jwk.use !== "sig") return undefined;
  const { key_ops: operations, kid } = jwk;
  if (operations !== undefined) {
    if (!Array.isArray(operations) || !operations.includes("verify")) {
      return undefined;
    }
  }
  if (kid !== undefined && typeof kid !== "string") return undefined;
  const supports = algorithmTest(jwk);
  const verify = await createVerify(jwk);
  if (!verify) return undefined;
  const { calculateJwkThumbprint } = await import("jose");
  try {
    const thumbprint = await calculateJwkThumbprint(jwk as JWK, "sha256");
    return { keyId: kid, thumbprint, supports, verify };
  } catch {
    return undefined;
  }
}

function algorithmTest(jwk: Jwk): (algorithm: string) => boolean {
  const type = jwk.kty === "RSA" ? "RSA" : `${jwk.kty} ${jwk.crv}`;
  return (algorithm) =>
    Object.hasOwn(KEY_TYPES, algorithm) && KEY_TYPES[algorithm] === type &&
    (jwk.alg === undefined || jwk.alg === algorithm);
}

async function createVerify(
  jwk: Jwk,
): Promise<VerificationKey["verify"] | undefined> {
  if (jwk.kty === "RSA") return createRsaVerify(jwk);
  const algorithm = SUPPORTED_ALGORITHMS.find(algorithmTest(jwk));
  if (algorithm === undefined) return undefined;
  const imported = await importKey(jwk, algorithm);
  return imported && ((jws) => verifyWithJose(imported, jws));
}

function createRsaVerify(jwk: Jwk): VerificationKey["verify"] | undefined {
  const key = parseRsaPublicKey(jwk.n, jwk.e);
  if (!key) return undefined;
  return (jws) => {
    const hash = RSA_HASHES[jws.algorithm];
    if (!hash) return verifyPss(jwk, jws);
    return verifyRsaSignature(key, hash, jws.signingInput, jws.signature);
  };
}

async function verifyPss(jwk: Jwk, jws: CompactJws): Promise<boolean> {
  const key = await importKey(jwk, jws.algorithm);
  return key !== undefined && await verifyWithJose(key, jws);
}

/** Takes public members only: a set with private members in it is no reason to hold them. */
async function importKey(
  jwk: Jwk,
  algorithm: string,
): Promise<CryptoKey | undefined> {
  const { kty, n, e, crv, x, y } = jwk;
  const { importJWK } = await import("jose");
  try {
    const key = await importJWK({ kty, n, e, crv, x, y } as JWK, algorithm);
    return key instanceof Uint8Array ? undefined : key;
  } catch {
    return undefined;
  }
}

async function verifyWithJose(
  key: CryptoKey,
  jws: CompactJws,
): Promise<boolean> {
  const { compactVerify } = await import("jose");
  try {
    await compactVerify(jws.token, key, { algorithms: [jws.algorithm] });
    return true;
  } catch {
    return false;
  }
}
