import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, sign, verify } from "node:crypto";
import { exportJWK, generateKeyPair } from "jose";
import {
  parseRsaPublicKey,
  type RsaHash,
  verifyRsaSignature,
} from "./rsa_signature.ts";

const pair = await generateKeyPair("RS256", { extractable: true });
const jwk = await exportJWK(pair.privateKey);
const privateKey = createPrivateKey({
  key: jwk as Record<string, string>,
  format: "jwk",
});
const key = parseRsaPublicKey(jwk.n, jwk.e);
assert(key);
const MESSAGE = "eyJhbGciOiJSUzI1NiJ9.e30";
const INFO: Record<RsaHash, string> = {
  sha256: "3031300d060960864801650304020105000420",
  sha384: "3041300d060960864801650304020205000430",
  sha512: "3051300d060960864801650304020305000440",
};

/** The raw RSA operation on a message representative of our own making. */
function signRaw(encoded: Buffer): Buffer {
  const modulus = toBigInt(Buffer.from(jwk.n ?? "", "base64url"));
  let base = toBigInt(encoded) % modulus;
  let exponent = toBigInt(Buffer.from(jwk.d ?? "", "base64url"));
  let result = 1n;
  for (; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = result * base % modulus;
    base = base * base % modulus;
  }
  return Buffer.from(result.toString(16).padStart(512, "0"), "hex");
}

function toBigInt(bytes: Buffer): bigint {
  return BigInt("0x" + bytes.toString("hex"));
}

function accepts(signature: Uint8Array, message = MESSAGE): boolean {
  assert(key);
  return verifyRsaSignature(key, "sha256", message, signature);
}

Deno.test("verifyRsaSignature() agrees with OpenSSL's kind of signatures, for each hash", () => {
  for (const hash of ["sha256", "sha384", "sha512"] as const) {
    for (let round = 0; round < 5; round++) {
      const message = crypto.randomUUID();
      const signature = sign(hash, Buffer.from(message), privateKey);
      assert(verifyRsaSignature(key, hash, message, signature));
      assert(!verifyRsaSignature(key, hash, message + "x", signature));
      for (const other of ["sha256", "sha384", "sha512"] as const) {
        const expected = other === hash;
        assert.equal(
          verifyRsaSignature(key, other, message, signature),
          expected,
        );
      }
    }
  }
});

Deno.test("verifyRsaSignature() refuses each changed bit, as node:crypto does", () => {
  const signature = sign("sha256", Buffer.from(MESSAGE), privateKey);
  assert(accepts(signature));
  for (let at = 0; at < signature.length; at += 5) {
    const changed = Buffer.from(signature);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    assert(!accepts(changed));
    assert(!verify("sha256", Buffer.from(MESSAGE), privateKey, changed));
  }
});

Deno.test("verifyRsaSignature() refuses signatures of another length or beyond the modulus", () => {
  const signature = sign("sha256", Buffer.from(MESSAGE), privateKey);
  const plusModulus = (BigInt("0x" + signature.toString("hex")) + key.modulus)
    .toString(16);
  for (
    const bad of [
      Buffer.alloc(0),
      signature.subarray(1),
      signature.subarray(0, 255),
      Buffer.concat([Buffer.alloc(1), signature]),
      Buffer.concat([signature, Buffer.alloc(1)]),
      Buffer.alloc(256),
      Buffer.alloc(256, 255),
      Buffer.from(key.modulus.toString(16), "hex"),
      Buffer.from("1".padStart(512, "0"), "hex"),
      Buffer.from(plusModulus.padStart(514, "0"), "hex"),
    ]
  ) assert(!accepts(bad));
});

Deno.test("verifyRsaSignature() refuses the modulus added to a good signature", () => {
  for (let round = 0;; round++) {
    const message = `message ${round}`;
    const signature = sign("sha256", Buffer.from(message), privateKey);
    const wrapped = (toBigInt(signature) + key.modulus).toString(16);
    // Only a small signature leaves room for it within the modulus's length.
    if (wrapped.length > 512) continue;
    assert(accepts(signature, message));
    assert(!accepts(Buffer.from(wrapped.padStart(512, "0"), "hex"), message));
    break;
  }
});

Deno.test("verifyRsaSignature() refuses every padding but the one of RFC 8017", () => {
  const digest = createHash("sha256").update(MESSAGE).digest("hex");
  const info = INFO.sha256;
  const frame = (start: string, tail: string, fill = "ff") =>
    Buffer.from(
      start + fill.repeat(256 - (start.length + tail.length) / 2) + tail,
      "hex",
    );
  const good = frame("0001", "00" + info + digest);
  assert(accepts(signRaw(good)), "control");
  const withoutNull = "302f300b0609608648016503040201" + "0420";
  const bad: Record<string, Buffer> = {
    "block type 2": frame("0002", "00" + info + digest),
    "block type 0": frame("0000", "00" + info + digest),
    "zero padding": frame("0001", "00" + info + digest, "00"),
    "no separator": frame("0001", info + digest),
    "garbage after": Buffer.from(
      "0001" + "ff".repeat(8) + "00" + info + digest + "00".repeat(194),
      "hex",
    ),
    "garbage in the padding": frame("0001", "fe00" + info + digest),
    "no NULL": frame("0001", "00" + withoutNull + digest),
    "no digest info": frame("0001", "00" + digest),
    "digest of SHA-1's length": frame("0001", "00" + info + digest.slice(24)),
    "long-form length": frame(
      "0001",
      "00" + "308131300d060960864801650304020105000420" + digest,
    ),
  };
  for (const [name, encoded] of Object.entries(bad)) {
    assert.equal(encoded.length, 256, name);
    assert(!accepts(signRaw(encoded)), name);
  }
});

Deno.test("verifyRsaSignature() is not fooled by a cube root under exponent 3", () => {
  const small = parseRsaPublicKey(jwk.n, "Aw");
  assert(small);
  const digest = createHash("sha256").update(MESSAGE).digest("hex");
  // Bleichenbacher '06: a perfect cube that starts like a good encoding.
  const prefix = "0001ff00" + INFO.sha256 + digest;
  const target = BigInt("0x" + prefix.padEnd(512, "f"));
  let low = 0n;
  let high = 1n << 700n;
  while (low < high) {
    const middle = (low + high + 1n) >> 1n;
    if (middle ** 3n <= target) low = middle;
    else high = middle - 1n;
  }
  const forged = Buffer.from(low.toString(16).padStart(512, "0"), "hex");
  const encoded = (low ** 3n).toString(16).padStart(512, "0");
  assert(encoded.startsWith(prefix), "the forgery itself is good");
  assert(!verifyRsaSignature(small, "sha256", MESSAGE, forged));
});

Deno.test("parseRsaPublicKey() refuses weak, huge and malformed keys", () => {
  const bits = (count: number) => {
    const value = (1n << BigInt(count - 1)) | 1n;
    const hex = value.toString(16);
    return Buffer.from(hex.padStart(hex.length + hex.length % 2, "0"), "hex")
      .toString("base64url");
  };
  assert(parseRsaPublicKey(bits(2048), "AQAB"));
  assert(parseRsaPublicKey(bits(8192), "AQAB"));
  for (const count of [512, 1024, 2047, 8193]) {
    assert.equal(parseRsaPublicKey(bits(count), "AQAB"), undefined);
  }
  for (const e of ["AQ", "AA", "Ag", "AQAAAAE", "", undefined, 3, "A B"]) {
    assert.equal(parseRsaPublicKey(jwk.n, e), undefined);
  }
  for (const n of [undefined, "", 7, "!", "A".repeat(2000), []]) {
    assert.equal(parseRsaPublicKey(n, "AQAB"), undefined);
  }
});
