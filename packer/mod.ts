/**
 * Validates, packs and examines plugin bundles.
 *
 * @module
 */
export { bundleName, signatureFileName } from "./bundle_name.ts";
export type { BundleIdentity } from "./bundle_name.ts";
export { examineBundle as doctor } from "./doctor/examine.ts";
export type { Examination } from "./doctor/examine.ts";
export type { DoctorOptions, ReportNotes } from "./doctor/evidence.ts";
export { exitCodeOf, verdictsOf } from "./doctor/report.ts";
export { INVARIANT_IDS, INVARIANT_TITLES } from "./doctor/invariants.ts";
export type { InvariantId, Outcome } from "./doctor/invariants.ts";
export type {
  DoctorFinding,
  EscapeVerdict,
  ManifestVerdict,
  Verdict,
} from "./doctor/verdicts.ts";
export type { LoggedSignature } from "./sigstore/plugin_signature.ts";
export type { IdentityPolicy, TrustedSigner } from "./sigstore/policy.ts";
export type { SignatureVerdict } from "./sigstore/refusal.ts";
export type { TrustedRootSource } from "./sigstore/trusted_root.ts";
export type { VerifiedSigner } from "./sigstore/verify_bundle.ts";
export type { VerifiedSignature } from "./sigstore/verify_signature.ts";
export type { ZipVerdict } from "./zip/verdict.ts";
export {
  DeferredTargetError,
  InvalidManifestError,
  PackerError,
  UnknownTargetError,
  UnsignedManifestError,
} from "./errors.ts";
export type { PackerErrorCode } from "./errors.ts";
export { pack } from "./pack.ts";
export type { PackNotice, PackOptions, PackProgress } from "./pack.ts";
export { rebuild } from "./rebuild.ts";
export type {
  EntryDifference,
  RebuildOptions,
  RebuildResult,
} from "./rebuild.ts";
export { sign } from "./sign.ts";
export type { SignOptions, SignResult } from "./sign.ts";
export { findIdentityToken } from "./sigstore/identity_token.ts";
export type { IdentityToken, TokenSources } from "./sigstore/identity_token.ts";
export type { SigningServices } from "./sigstore/sign_statement.ts";
export type { CheckSignature, SignatureCheck } from "./signature_check.ts";
export type { BundleContent } from "./content.ts";
export { DEFERRED_TARGETS, TARGETS } from "./types.ts";
export type {
  BundleEntry,
  DeferredTarget,
  PackResult,
  Target,
} from "./types.ts";
export { validate } from "./validate.ts";
