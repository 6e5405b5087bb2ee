/** The caller's policy: whose signature counts. Never read from a bundle. */
import { PackerError } from "../errors.ts";
import { SignatureRefusal } from "./refusal.ts";
import type { VerifiedSigner } from "./verify_bundle.ts";

/** One signer that the caller trusts; both strings are compared exactly. */
export interface TrustedSigner {
  /** The certificate's Subject Alternative Name, whole. */
  readonly certificateIdentity: string;
  /** The OIDC issuer in the certificate, whole. */
  readonly certificateOidcIssuer: string;
}

/** Any one of these signers is accepted. Never empty. */
export interface IdentityPolicy {
  /** Any one of them. */
  readonly signers: readonly TrustedSigner[];
}

/** Bytes of the largest policy file that is read. */
export const MAX_POLICY_BYTES: number = 64 * 1024;

const MAX_SIGNERS = 100;

/**
 * Makes a policy of the two values given on the command line.
 *
 * @returns Nothing when neither is given.
 * @throws {PackerError} `POLICY_INVALID` when one is missing or empty.
 */
export function policyOf(
  identity: string | undefined,
  issuer: string | undefined,
): IdentityPolicy | undefined {
  if (identity === undefined && issuer === undefined) return undefined;
  if (!identity || !issuer) {
    throw policyInvalid(
      "--certificate-identity and --certificate-oidc-issuer are needed together, and neither may be empty",
    );
  }
  return {
    signers: [{ certificateIdentity: identity, certificateOidcIssuer: issuer }],
  };
}

/**
 * Reads a policy file:
 * `{"signers":[{"certificate_identity":"…","certificate_oidc_issuer":"…"}]}`.
 *
 * @throws {PackerError} `POLICY_INVALID`, naming the member at fault.
 */
export function parsePolicy(text: string): IdentityPolicy {
  const json = parseJson(text);
  if (!isRecord(json) || !onlyKeys(json, ["signers"])) {
    throw policyInvalid('it must be an object with the one member "signers"');
  }
  const { signers } = json;
  if (
    !Array.isArray(signers) || signers.length === 0 ||
    signers.length > MAX_SIGNERS
  ) {
    throw policyInvalid(`"signers" must list 1 to ${MAX_SIGNERS} signers`);
  }
  return { signers: signers.map(parseSigner) };
}

function parseSigner(value: unknown, index: number): TrustedSigner {
  const keys = ["certificate_identity", "certificate_oidc_issuer"];
  if (!isRecord(value) || !onlyKeys(value, keys)) {
    throw policyInvalid(
      `signers[${index}] must have certificate_identity and certificate_oidc_issuer and nothing else`,
    );
  }
  const [identity, issuer] = keys.map((key) => {
    const member = value[key];
    if (typeof member === "string" && member !== "") return member;
    throw policyInvalid(`signers[${index}].${key} must be a text, not empty`);
  }) as [string, string];
  return { certificateIdentity: identity, certificateOidcIssuer: issuer };
}

/**
 * Compares the signer with the policy, as whole strings: no pattern, no
 * prefix, no folding of case.
 *
 * @throws {SignatureRefusal} `IDENTITY_SAN`, `IDENTITY_ISSUER`.
 */
export function authorizeSigner(
  signer: VerifiedSigner,
  policy: IdentityPolicy,
): void {
  const named = policy.signers.filter((trusted) =>
    trusted.certificateIdentity === signer.identity
  );
  if (named.length === 0) {
    throw new SignatureRefusal(
      "IDENTITY_SAN",
      `Signed by "${signer.identity ?? "nobody"}", who is not in the policy`,
    );
  }
  const vouched = named.some((trusted) =>
    trusted.certificateOidcIssuer === signer.issuer
  );
  if (!vouched) {
    throw new SignatureRefusal(
      "IDENTITY_ISSUER",
      `The signer's identity comes from issuer "${
        signer.issuer ?? "none"
      }", which is not the one in the policy`,
    );
  }
}

function policyInvalid(reason: string): PackerError {
  return new PackerError("POLICY_INVALID", `Cannot use the policy: ${reason}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw policyInvalid("it is not JSON");
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function onlyKeys(
  value: Record<string, unknown>,
  keys: readonly string[],
): boolean {
  return Object.keys(value).every((key) => keys.includes(key));
}
