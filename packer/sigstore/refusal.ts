/** Why a signature was refused, and why a signature could not be judged. */

/** Verdicts on a signature. Each is documented in docs/doctor.md. */
export type SignatureVerdict =
  | "UNSIGNED"
  | "SIG_BUNDLE_MALFORMED"
  | "SIG_BUNDLE_KIND"
  | "SIG_TLOG_COUNT"
  | "SIG_PAYLOAD_TYPE"
  | "SIG_INVALID"
  | "SIG_FROM_FUTURE"
  | "REKOR_UUID_MISMATCH"
  | "CONTENT_MISMATCH"
  | "IDENTITY_SAN"
  | "IDENTITY_ISSUER"
  | "IDENTITY_UNCHECKED"
  | "REKOR_ENTRY_MISSING"
  | "REKOR_UNREACHABLE";

/** A signature that must not be trusted. `cause` keeps the library's reason. */
export class SignatureRefusal extends Error {
  override readonly name = "SignatureRefusal";
  readonly code: SignatureVerdict;

  /** @param message What is wrong, for a person. */
  constructor(
    code: SignatureVerdict,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
  }
}
