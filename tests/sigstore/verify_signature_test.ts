/** Each way in which a signature can be wrong has its own verdict. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { X509Certificate } from "@sigstore/core";
import { ASN1Obj } from "@sigstore/core";
import { SignatureRefusal } from "../../packer/sigstore/refusal.ts";
import {
  type SignatureCheck,
  type VerifiedSignature,
  verifySignature,
} from "../../packer/sigstore/verify_signature.ts";
import {
  encodeSignature,
  forgeBundle,
  FORGED_IDENTITY,
  FORGED_ISSUER,
  type ForgeOptions,
  forgeSignature,
  type LooseBundle,
} from "../support/signing_stack/forge.ts";
import { shareSigningStack } from "../support/signing_stack/shared.ts";
import { startSigningStack } from "../support/signing_stack/stack.ts";

const shared = shareSigningStack();
const encoder = new TextEncoder();
const STATEMENT = encoder.encode('{"about":"this content"}');
const MINUTE = 60_000;

async function check(
  signature: unknown,
  options: Partial<SignatureCheck> = {},
): Promise<VerifiedSignature> {
  const { trustedRoot } = await shared.stack();
  return await verifySignature({
    signature,
    statement: STATEMENT,
    roots: [{ name: "test", json: trustedRoot }],
    now: new Date(),
    ...options,
  });
}

async function good(options: Partial<ForgeOptions> = {}) {
  return await forgeSignature(await shared.stack(), {
    payload: STATEMENT,
    ...options,
  });
}

/** Refuses this one, and accepts a good one right after it. */
async function refuses(
  code: string,
  signature: unknown,
  options: Partial<SignatureCheck> = {},
): Promise<SignatureRefusal> {
  let refusal: unknown;
  try {
    await check(signature, options);
  } catch (error) {
    refusal = error;
  }
  assert.ok(refusal instanceof SignatureRefusal, `${code}: ${refusal}`);
  assert.equal(refusal.code, code, refusal.message);
  await check(await good());
  return refusal;
}

/** Damages the JSON of a good bundle. */
async function damaged(
  damage: (bundle: LooseBundle) => void,
  options: Partial<ForgeOptions> = {},
) {
  const bundle = await forgeBundle(await shared.stack(), {
    payload: STATEMENT,
    ...options,
  });
  damage(bundle);
  return encodeSignature(bundle);
}

/** Flips one bit in the middle of a base64 value. */
function flip(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes.toString("base64");
}

Deno.test("verifySignature() accepts a good signature and says who, where and when", async () => {
  const signature = await good();
  const verified = await check(signature);
  assert.deepEqual(verified.signer, {
    identity: FORGED_IDENTITY,
    issuer: FORGED_ISSUER,
  });
  assert.equal(verified.trustedRoot, "test");
  assert.equal(verified.rekorUuid, signature.rekor_uuid);
  assert.equal(verified.identity, "unchecked");
  assert.ok(
    Math.abs(Date.now() - verified.entry.integratedTime.getTime()) < MINUTE,
  );
});

Deno.test("verifySignature() accepts a time stamp besides the log's promise", async () => {
  await check(await good({ timestamps: 1 }));
});

Deno.test("UNSIGNED: no, empty or half a signature", async () => {
  const { sigstore_bundle, rekor_uuid } = await good();
  for (
    const signature of [
      undefined,
      null,
      {},
      { rekor_uuid },
      { sigstore_bundle },
      { sigstore_bundle, rekor_uuid: "" },
      { sigstore_bundle: "", rekor_uuid },
    ]
  ) await refuses("UNSIGNED", signature);
});

Deno.test("SIG_BUNDLE_MALFORMED: placeholder, bad base64, null, junk, over-long, not canonical", async () => {
  const { sigstore_bundle, rekor_uuid } = await good();
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const json = Buffer.from(sigstore_bundle, "base64").toString();
  for (
    const text of [
      "<base64-encoded-sigstore-bundle>",
      "bm90IGpzb24", // unpadded
      base64("not json"),
      base64("null"),
      base64("[]"),
      base64('"text"'),
      null,
      7,
      {},
      `${sigstore_bundle}\n`,
      base64(`${json} `),
      base64(JSON.stringify(JSON.parse(json), null, 2)),
      base64(json.replace("{", '{"mediaType":"x",')),
      base64("\ufeff" + json),
      "A".repeat(50 * 1024 * 1024),
      base64("[".repeat(100_000)),
    ]
  ) {
    await refuses("SIG_BUNDLE_MALFORMED", {
      sigstore_bundle: text,
      rekor_uuid,
    });
  }
  await refuses("SIG_BUNDLE_MALFORMED", "text");
  await refuses("SIG_BUNDLE_MALFORMED", { sigstore_bundle, rekor_uuid: 7 });
});

Deno.test("SIG_BUNDLE_MALFORMED: members that the library would skip or read sloppily", async () => {
  const damages: ((bundle: LooseBundle) => void)[] = [
    (bundle) => bundle.extra = 1,
    (bundle) => bundle.verificationMaterial.tlogEntries[0].note = "hidden",
    (bundle) => bundle.dsseEnvelope.signatures[0].extra = "x",
    (bundle) => bundle.dsseEnvelope.payload += "\n",
    (bundle) => bundle.verificationMaterial.tlogEntries[0].logIndex = 25579,
    (bundle) => bundle.verificationMaterial.tlogEntries[0].logIndex += ".0",
    (bundle) => delete bundle.verificationMaterial.certificate,
    (bundle) => delete bundle.dsseEnvelope,
    (bundle) =>
      delete bundle.verificationMaterial.tlogEntries[0].inclusionProof,
    (bundle) => bundle.verificationMaterial = 1,
    (bundle) => bundle.verificationMaterial.tlogEntries[0] = null,
    (bundle) => bundle.dsseEnvelope.signatures = [],
    (bundle) =>
      bundle.dsseEnvelope.signatures.push(bundle.dsseEnvelope.signatures[0]),
  ];
  for (const damage of damages) {
    await refuses("SIG_BUNDLE_MALFORMED", await damaged(damage));
  }
});

Deno.test("SIG_BUNDLE_KIND: v0.1 to v0.2, a bare key, a chain, a signature over bytes, Rekor v2", async () => {
  const damages: ((bundle: LooseBundle) => void)[] = [
    (bundle) =>
      bundle.mediaType = "application/vnd.dev.sigstore.bundle+json;version=0.1",
    (bundle) =>
      bundle.mediaType = "application/vnd.dev.sigstore.bundle+json;version=0.2",
    (bundle) => delete bundle.mediaType,
    ({ verificationMaterial }) => {
      delete verificationMaterial.certificate;
      verificationMaterial.publicKey = { hint: "key" };
    },
    ({ verificationMaterial }) => {
      const { certificate } = verificationMaterial;
      delete verificationMaterial.certificate;
      verificationMaterial.x509CertificateChain = {
        certificates: [certificate],
      };
    },
    (bundle) => {
      delete bundle.dsseEnvelope;
      bundle.messageSignature = {
        messageDigest: { algorithm: "SHA2_256", digest: "AAAA" },
        signature: "AAAA",
      };
    },
    ({ verificationMaterial }) =>
      verificationMaterial.tlogEntries[0].kindVersion.version = "0.0.2",
  ];
  for (const damage of damages) {
    await refuses("SIG_BUNDLE_KIND", await damaged(damage));
  }
});

Deno.test("SIG_TLOG_COUNT: no log entry, or two", async () => {
  await refuses(
    "SIG_TLOG_COUNT",
    await damaged((bundle) => bundle.verificationMaterial.tlogEntries = []),
  );
  await refuses(
    "SIG_TLOG_COUNT",
    await damaged(({ verificationMaterial: { tlogEntries } }) =>
      tlogEntries.push(tlogEntries[0])
    ),
  );
});

Deno.test("SIG_PAYLOAD_TYPE: a genuine signature over something that is no statement", async () => {
  await refuses("SIG_PAYLOAD_TYPE", await good({ payloadType: "text/plain" }));
});

const DAMAGES: Readonly<Record<string, (bundle: LooseBundle) => void>> = {
  "signed entry timestamp": (
    { verificationMaterial: { tlogEntries: [entry] } },
  ) =>
    entry.inclusionPromise.signedEntryTimestamp = flip(
      entry.inclusionPromise.signedEntryTimestamp,
    ),
  "time of the entry": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.integratedTime = String(Number(entry.integratedTime) - 1),
  "index of the entry": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.logIndex = String(Number(entry.logIndex) + 1),
  "inclusion proof": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.inclusionProof.hashes = ["A".repeat(43) + "="],
  "tree size": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.inclusionProof.treeSize = String(
      Number(entry.inclusionProof.treeSize) + 1,
    ),
  "root hash": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.inclusionProof.rootHash = flip(entry.inclusionProof.rootHash),
  "index in the proof": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.inclusionProof.logIndex = "999999",
  "checkpoint": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.inclusionProof.checkpoint.envelope = entry.inclusionProof.checkpoint
      .envelope.replace(/\n\d+\n/, "\n7\n"),
  "checkpoint's tree": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.inclusionProof.checkpoint.envelope = entry.inclusionProof.checkpoint
      .envelope.replace(/ - \d+\n/, " - 1\n"),
  "log's body": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.canonicalizedBody = flip(entry.canonicalizedBody),
  "log id": ({ verificationMaterial: { tlogEntries: [entry] } }) =>
    entry.logId.keyId = flip(entry.logId.keyId),
  "promise left out": ({ verificationMaterial: { tlogEntries: [entry] } }) => {
    delete entry.inclusionPromise;
  },
  "certificate": ({ verificationMaterial: { certificate } }) =>
    certificate.rawBytes = flip(certificate.rawBytes),
  "certificate cut": ({ verificationMaterial: { certificate } }) =>
    certificate.rawBytes = "MIIB",
  "signature": ({ dsseEnvelope: { signatures: [signature] } }) =>
    signature.sig = flip(signature.sig),
  "signature's key id": ({ dsseEnvelope: { signatures: [signature] } }) =>
    signature.keyid = "x",
  "payload": ({ dsseEnvelope }) =>
    dsseEnvelope.payload = flip(dsseEnvelope.payload),
};

for (const [what, damage] of Object.entries(DAMAGES)) {
  Deno.test(`SIG_INVALID: damaged ${what}`, async () => {
    await good(); // So that the tree has more than one leaf.
    await refuses("SIG_INVALID", await damaged(damage));
  });
}

Deno.test("SIG_INVALID: a damaged time stamp", async () => {
  const signature = await damaged(({ verificationMaterial }) => {
    const [stamp] = verificationMaterial.timestampVerificationData
      .rfc3161Timestamps;
    stamp.signedTimestamp = flip(stamp.signedTimestamp);
  }, { timestamps: 1 });
  await refuses("SIG_INVALID", signature);
});

Deno.test("SIG_INVALID: the certificate had expired, or was not yet valid, when it was logged", async () => {
  for (const hours of [-2, 2]) {
    const clock = new Date(Date.now() + hours * 60 * MINUTE);
    await refuses("SIG_INVALID", await good({ clock }));
  }
});

Deno.test("SIG_INVALID: an attacker's own Sigstore, in whole or in part", async () => {
  const attacker = await startSigningStack();
  try {
    const stack = await shared.stack();
    const payload = STATEMENT;
    await refuses("SIG_INVALID", await forgeSignature(attacker, { payload }));
    await refuses(
      "SIG_INVALID",
      await forgeSignature(stack, { payload, certifiedBy: attacker }),
    );
    await refuses(
      "SIG_INVALID",
      await forgeSignature(attacker, { payload, certifiedBy: stack }),
    );
  } finally {
    await attacker.close();
  }
});

Deno.test("SIG_INVALID: the right payload with the signature of another", async () => {
  const stack = await shared.stack();
  const bundle = await forgeBundle(stack, { payload: encoder.encode("{}") });
  bundle.dsseEnvelope.payload = Buffer.from(STATEMENT).toString("base64");
  await refuses("SIG_INVALID", encodeSignature(bundle));
});

Deno.test("SIG_INVALID: the log entry of another signature over the same payload", async () => {
  const stack = await shared.stack();
  const one = await forgeBundle(stack, { payload: STATEMENT });
  const two = await forgeBundle(stack, { payload: STATEMENT });
  one.verificationMaterial.tlogEntries = two.verificationMaterial.tlogEntries;
  await refuses("SIG_INVALID", encodeSignature(one));
});

Deno.test("SIG_INVALID: the log entry names another certificate", async () => {
  const other = await forgeBundle(await shared.stack(), { payload: STATEMENT });
  const loggedCertificate = other.verificationMaterial.certificate.rawBytes;
  const refusal = await refuses(
    "SIG_INVALID",
    await good({ loggedCertificate }),
  );
  assert.match(refusal.message, /another certificate/);
});

/** Gives the certificate a second subject name. */
function addSubject(certificate: X509Certificate): void {
  const names = certificate.extSubjectAltName?.valueObj.subs[0];
  const [name] = names?.subs ?? [];
  if (names === undefined || name === undefined) throw new TypeError("No name");
  names.subs.push(
    new ASN1Obj(name.tag, Buffer.from("https://evil.example/"), []),
  );
}

Deno.test("DOC-07 SIG_INVALID: two subject names, or no issuer, in a genuine certificate", async () => {
  const two = await refuses("SIG_INVALID", await good({ edit: addSubject }));
  assert.match(two.message, /2 subject names/);
  const none = await refuses("SIG_INVALID", await good({ issuer: null }));
  assert.match(none.message, /no issuer/);
  // Control: editing a certificate without changing it is not what is refused.
  await check(await good({ edit: () => {} }));
});

Deno.test("SIG_FROM_FUTURE: the log's clock is ahead of ours", async () => {
  const later = new Date(Date.now() + 24 * 60 * MINUTE);
  const ahead = await startSigningStack({ now: () => later });
  try {
    const signature = await forgeSignature(ahead, {
      payload: STATEMENT,
      clock: new Date(later.getTime() - MINUTE),
    });
    const roots = [{ name: "ahead", json: ahead.trustedRoot }];
    await refuses("SIG_FROM_FUTURE", signature, { roots });
    await check(signature, { roots, now: later });
  } finally {
    await ahead.close();
  }
});

Deno.test("DOC-08 a clock one year ahead refuses nothing", async () => {
  const now = new Date(Date.now() + 366 * 24 * 60 * MINUTE);
  await check(await good(), { now });
});

Deno.test("REKOR_UUID_MISMATCH: the UUID is recomputed, never believed", async () => {
  const stack = await shared.stack();
  const bundle = await forgeBundle(stack, { payload: STATEMENT });
  const { rekor_uuid } = encodeSignature(bundle);
  for (
    const uuid of [
      "0".repeat(80),
      rekor_uuid.slice(16),
      rekor_uuid.toUpperCase(),
      `${rekor_uuid.slice(0, -1)}${rekor_uuid.endsWith("0") ? "1" : "0"}`,
    ]
  ) await refuses("REKOR_UUID_MISMATCH", encodeSignature(bundle, uuid));
});

Deno.test("CONTENT_MISMATCH: a genuine signature of other content says what differs", async () => {
  const statement = (version: string) =>
    encoder.encode(JSON.stringify({ predicate: { name: "x", version } }));
  const signature = await good({ payload: statement("1.0.0") });
  const refusal = await refuses("CONTENT_MISMATCH", signature, {
    statement: statement("1.0.1"),
  });
  assert.match(refusal.message, /version differs/);
  await refuses(
    "CONTENT_MISMATCH",
    await good({ payload: encoder.encode("x") }),
  );
});

Deno.test("a root that vouches for listed entries only refuses every other", async () => {
  const stack = await shared.stack();
  const signature = await good();
  const roots = (onlyEntries: string[]) => ({
    roots: [{ name: "closed", json: stack.trustedRoot, onlyEntries }],
  });
  await check(signature, roots([signature.rekor_uuid]));
  await refuses("SIG_INVALID", signature, roots([]));
});

Deno.test("several roots: the one that knows the log decides", async () => {
  const other = await startSigningStack();
  try {
    const stack = await shared.stack();
    const verified = await check(await good(), {
      roots: [
        { name: "other", json: other.trustedRoot },
        { name: "right", json: stack.trustedRoot },
      ],
    });
    assert.equal(verified.trustedRoot, "right");
  } finally {
    await other.close();
  }
});
