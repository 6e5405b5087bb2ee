/**
 * RSASSA-PKCS1-v1_5 verification over `BigInt`.
 *
 * On Deno WebCrypto and `node:crypto` need two to six times as long for the
 * same answer (`bench/http_bench.ts`), and every request pays it. Verification
 * handles public values only, so that time and memory may depend on them. The
 * encoded message is rebuilt and compared whole, never parsed: that leaves no
 * room for the padding forgeries of Bleichenbacher '06 and its successors.
 *
 * Source: RFC 8017 §8.2.2 and §9.2.
 */
import { hash as digestOf } from "node:crypto";
import { Buffer } from "node:buffer";

/** The digests that JWA pairs with this scheme. */
export type RsaHash = "sha256" | "sha384" | "sha512";

/** DER of `DigestInfo` up to the digest itself (RFC 8017 §9.2, note 1). */
const DIGEST_INFO: Readonly<Record<RsaHash, string>> = {
  sha256: "3031300d060960864801650304020105000420",
  sha384: "3041300d060960864801650304020205000430",
  sha512: "3051300d060960864801650304020305000440",
};

const DIGEST_BYTES: Readonly<Record<RsaHash, number>> = {
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

const MIN_MODULUS_BITS = 2048;
/** Verification time grows with the square of it. */
const MAX_MODULUS_BITS = 8192;
const MAX_EXPONENT = 0xffff_ffffn;

/** An RSA public key, checked. */
export interface RsaPublicKey {
  readonly modulus: bigint;
  readonly exponent: bigint;
  /** Length of the modulus, and so of each signature. */
  readonly modulusBytes: number;
}

/**
 * Reads `n` and `e` of a JWK.
 *
 * @param modulus Base64url, big-endian (RFC 7518 §6.3.1).
 * @returns `undefined` for a key that is malformed, even, under 2048 or over 8192 bits.
 */
export function parseRsaPublicKey(
  modulus: unknown,
  exponent: unknown,
): RsaPublicKey | undefined {
  const n = parseUnsigned(modulus);
  const e = parseUnsigned(exponent);
  if (n === undefined || e === undefined) return undefined;
  const bits = n.toString(2).length;
  if (bits < MIN_MODULUS_BITS || bits > MAX_MODULUS_BITS) return undefined;
  if (n % 2n === 0n || e % 2n === 0n || e < 3n || e > MAX_EXPONENT) {
    return undefined;
  }
  return { modulus: n, exponent: e, modulusBytes: Math.ceil(bits / 8) };
}

function parseUnsigned(text: unknown): bigint | undefined {
  if (typeof text !== "string" || !/^[A-Za-z0-9_-]{1,1400}$/.test(text)) {
    return undefined;
  }
  return BigInt("0x0" + Buffer.from(text, "base64url").toString("hex"));
}

/** Whether `signature` is this key's signature of `message` (ASCII). Never throws. */
export function verifyRsaSignature(
  key: RsaPublicKey,
  hash: RsaHash,
  message: string,
  signature: Uint8Array,
): boolean {
  if (signature.length !== key.modulusBytes) return false;
  const representative = toBigInt(signature);
  if (representative >= key.modulus) return false;
  const digest = digestOf(hash, message, "hex");
  return power(representative, key) === encodedMessage(key, hash, digest);
}

function toBigInt(bytes: Uint8Array): bigint {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString("hex");
  return BigInt("0x" + hex);
}

/** `base ^ exponent mod modulus` by squaring, from the exponent's highest bit down. */
function power(base: bigint, key: RsaPublicKey): bigint {
  const { modulus, exponent } = key;
  let result = base;
  for (const bit of exponent.toString(2).slice(1)) {
    result = result * result % modulus;
    if (bit === "1") result = result * base % modulus;
  }
  return result;
}

/** EMSA-PKCS1-v1_5: `00 01 FF… 00 DigestInfo`. */
function encodedMessage(
  key: RsaPublicKey,
  hash: RsaHash,
  digestHex: string,
): bigint {
  const info = DIGEST_INFO[hash];
  const padding = key.modulusBytes - 3 - info.length / 2 - DIGEST_BYTES[hash];
  return BigInt("0x0001" + "ff".repeat(padding) + "00" + info + digestHex);
}
