/** Whose signature counts is decided by whole strings. */
import assert from "node:assert/strict";
import { PackerError } from "../../packer/errors.ts";
import {
  authorizeSigner,
  parsePolicy,
  policyOf,
} from "../../packer/sigstore/policy.ts";
import { SignatureRefusal } from "../../packer/sigstore/refusal.ts";

const IDENTITY =
  "https://github.com/acme/repo/.github/workflows/release.yml@refs/heads/main";
const ISSUER = "https://token.actions.githubusercontent.com";

function verdict(
  identity: string | undefined,
  issuer: string | undefined,
): string {
  const policy = policyOf(IDENTITY, ISSUER);
  assert.ok(policy);
  try {
    authorizeSigner({ identity, issuer }, policy);
    return "authorized";
  } catch (error) {
    assert.ok(error instanceof SignatureRefusal);
    return error.code;
  }
}

Deno.test("DOC-06 only the exact identity passes, no look-alike", () => {
  assert.equal(verdict(IDENTITY, ISSUER), "authorized");
  for (
    const identity of [
      `${IDENTITY}x`,
      `${IDENTITY}-evil`,
      `https://evil.example/?u=${IDENTITY}`,
      IDENTITY.replace("github.com", "githubXcom"),
      IDENTITY.replace("release.yml", "other.yml"),
      IDENTITY.toUpperCase(),
      ` ${IDENTITY}`,
      `${IDENTITY}\n`,
      `${IDENTITY}/`,
      "",
      undefined,
    ]
  ) assert.equal(verdict(identity, ISSUER), "IDENTITY_SAN");
});

Deno.test("DOC-06 only the exact issuer passes", () => {
  for (
    const issuer of [
      `${ISSUER}/`,
      `${ISSUER}.evil.example`,
      "https://accounts.google.com",
      "",
      undefined,
    ]
  ) assert.equal(verdict(IDENTITY, issuer), "IDENTITY_ISSUER");
});

Deno.test("DOC-06 a pattern is a text: it matches itself and nothing else", () => {
  const policy = policyOf(".*", ".*");
  assert.ok(policy);
  assert.throws(() =>
    authorizeSigner({ identity: IDENTITY, issuer: ISSUER }, policy)
  );
  authorizeSigner({ identity: ".*", issuer: ".*" }, policy);
});

Deno.test("DOC-06 identity and issuer are needed together and not empty", () => {
  assert.equal(policyOf(undefined, undefined), undefined);
  for (
    const [identity, issuer] of [
      [IDENTITY, undefined],
      [undefined, ISSUER],
      [IDENTITY, ""],
      ["", ISSUER],
      ["", ""],
    ]
  ) {
    assert.throws(
      () => policyOf(identity, issuer),
      (error) =>
        error instanceof PackerError && error.code === "POLICY_INVALID",
    );
  }
});

Deno.test("a policy file lists signers; identity and issuer belong together", () => {
  const policy = parsePolicy(JSON.stringify({
    signers: [
      { certificate_identity: "a", certificate_oidc_issuer: "A" },
      { certificate_identity: "b", certificate_oidc_issuer: "B" },
    ],
  }));
  authorizeSigner({ identity: "a", issuer: "A" }, policy);
  authorizeSigner({ identity: "b", issuer: "B" }, policy);
  assert.throws(() => authorizeSigner({ identity: "a", issuer: "B" }, policy));
});

Deno.test("a policy file that says less than it seems is refused", () => {
  const signer = {
    certificate_identity: "a",
    certificate_oidc_issuer: "A",
  };
  for (
    const text of [
      "",
      "[]",
      "null",
      "{}",
      '{"signers":[]}',
      '{"signers":{}}',
      JSON.stringify({ signers: [signer], allow: "*" }),
      JSON.stringify({ signers: [{ ...signer, certificate_identity: "" }] }),
      JSON.stringify({ signers: [{ certificate_identity: "a" }] }),
      JSON.stringify({ signers: [{ ...signer, regexp: ".*" }] }),
      JSON.stringify({ signers: [{ ...signer, certificate_identity: ["a"] }] }),
      JSON.stringify({ signers: Array(101).fill(signer) }),
    ]
  ) {
    assert.throws(
      () => parsePolicy(text),
      (error) =>
        error instanceof PackerError && error.code === "POLICY_INVALID",
      text,
    );
  }
});
