/** Reads a JWK set document. */
import {
  createVerificationKey,
  type Jwk,
  type VerificationKey,
} from "./verification_key.ts";

/** More keys than any issuer rotates through; the rest is ignored. */
const MAX_KEYS = 64;

/**
 * Parses a JWK set. A member that cannot verify here is skipped, one by one, so
 * that a new kind of key at the issuer breaks nothing (RFC 7517 §5).
 *
 * @throws {SyntaxError} Where the text is no JWK set.
 */
export async function parseKeySet(
  text: string,
): Promise<readonly VerificationKey[]> {
  const document: unknown = JSON.parse(text);
  const members = isObject(document) ? document.keys : undefined;
  if (!Array.isArray(members)) throw new SyntaxError("Not a JWK set");
  const keys: VerificationKey[] = [];
  for (const member of members.slice(0, MAX_KEYS)) {
    const key = isObject(member)
      ? await createVerificationKey(member)
      : undefined;
    if (key) keys.push(key);
  }
  return keys;
}

function isObject(value: unknown): value is Jwk {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
