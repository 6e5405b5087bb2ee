/** Checks the signature of a token against the issuer's keys. */
import { BridgeError } from "../errors.ts";
import type { CompactJws } from "./compact_jws.ts";
import type { KeySource } from "./key_source.ts";
import type { SignatureMemo } from "./signature_memo.ts";
import type { VerificationKey } from "./verification_key.ts";

/** Options of {@link createTokenVerifier}. */
export interface TokenVerifierOptions {
  readonly keys: KeySource;
  /** The only values of `alg` that are looked at. */
  readonly algorithms: readonly string[];
  readonly memo: SignatureMemo;
}

/** Checks signatures. */
export interface TokenVerifier {
  /**
   * Resolves where the token carries a valid signature of a current key.
   *
   * @param expiresAtMs How long the result may be remembered at most.
   * @throws {BridgeError} `TOKEN_INVALID`, `KEYS_UNAVAILABLE`.
   */
  verify(
    jws: CompactJws,
    options: {
      readonly nowMs: number;
      readonly expiresAtMs: number;
      readonly signal?: AbortSignal;
    },
  ): Promise<void>;
}

/** A token without `kid` is tried on this many keys at most. */
const MAX_CANDIDATES = 8;

/** Creates a verifier over a key source. */
export function createTokenVerifier(
  { keys: source, algorithms, memo }: TokenVerifierOptions,
): TokenVerifier {
  return {
    async verify(jws, { nowMs, expiresAtMs, signal }) {
      if (!algorithms.includes(jws.algorithm)) {
        throw new BridgeError(
          "TOKEN_INVALID",
          "The token is signed with an algorithm that is not accepted",
        );
      }
      const keys = await source.current(signal);
      const candidates = select(keys, jws);
      const remembered = memo.recall(jws.token, nowMs);
      if (candidates.some((key) => key.thumbprint === remembered)) return;
      const signer = await findSigner(candidates, jws) ??
        await findNewSigner(source, candidates, jws, signal);
      memo.remember(jws.token, signer.thumbprint, expiresAtMs);
    },
  };
}

function select(
  keys: readonly VerificationKey[],
  jws: CompactJws,
): readonly VerificationKey[] {
  return keys.filter((key) =>
    key.supports(jws.algorithm) &&
    (jws.keyId === undefined || key.keyId === jws.keyId)
  ).slice(0, MAX_CANDIDATES);
}

async function findSigner(
  candidates: readonly VerificationKey[],
  jws: CompactJws,
): Promise<VerificationKey | undefined> {
  for (const key of candidates) if (await key.verify(jws)) return key;
  return undefined;
}

/** The issuer may have rotated: an unknown `kid`, or a known one with other material. */
async function findNewSigner(
  source: KeySource,
  tried: readonly VerificationKey[],
  jws: CompactJws,
  signal: AbortSignal | undefined,
): Promise<VerificationKey> {
  const { keys, retryAfterSeconds } = await source.refetch(signal);
  const fresh = select(keys, jws).filter((key) =>
    tried.every((old) => old.thumbprint !== key.thumbprint)
  );
  const signer = await findSigner(fresh, jws);
  if (signer) return signer;
  throw new BridgeError(
    "TOKEN_INVALID",
    "The token's signature is not valid",
    tried.length === 0 && retryAfterSeconds !== undefined
      ? { retryAfterSeconds }
      : {},
  );
}
