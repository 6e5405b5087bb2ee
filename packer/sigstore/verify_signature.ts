/** Is this signature a valid one of this content, by someone we trust? */
import type { Sigstore } from "./library.ts";
import { loadSigstore } from "./library.ts";
import {
  decodeSignature,
  type LoggedSignature,
  type PluginSignature,
} from "./plugin_signature.ts";
import { authorizeSigner, type IdentityPolicy } from "./policy.ts";
import { SignatureRefusal } from "./refusal.ts";
import { parseTrustedRoot, type TrustAnchor } from "./trusted_root.ts";
import type { TrustedRootSource } from "./trusted_root.ts";
import { type VerifiedSigner, verifySigstoreBundle } from "./verify_bundle.ts";

/** What a signature is judged by. */
export interface SignatureCheck {
  /** The manifest's `signature` member, whatever it is. */
  readonly signature: unknown;
  /** The statement recomputed from the content at hand. */
  readonly statement: Uint8Array;
  readonly roots: readonly TrustedRootSource[];
  readonly policy?: IdentityPolicy;
  readonly now: Date;
}

/** A signature that holds. */
export interface VerifiedSignature {
  /** Who signed, from the certificate. */
  readonly signer: VerifiedSigner;
  /** Name of the trusted root that vouches for it. */
  readonly trustedRoot: string;
  /** Recomputed from the log entry: 80 lower-case hex digits. */
  readonly rekorUuid: string;
  /** The log entry. */
  readonly entry: LoggedSignature;
  /** Base URL of the log, from the trusted root. */
  readonly logUrl: string | undefined;
  /** Whether the caller's policy named this signer. */
  readonly identity: "trusted" | "unchecked";
}

/**
 * Verifies a plugin's signature offline.
 *
 * In order: its form, its cryptography under one of the roots, its Rekor UUID,
 * the signed statement byte for byte, and the signer's identity.
 *
 * @throws {SignatureRefusal} With the verdict.
 * @throws {PackerError} `TRUST_ROOT_INVALID` when nothing could be judged.
 */
export async function verifySignature(
  check: SignatureCheck,
): Promise<VerifiedSignature> {
  const sigstore = await loadSigstore();
  const anchors = check.roots.map((root) => parseTrustedRoot(sigstore, root));
  const decoded = decodeSignature(sigstore, check.signature);
  const { anchor, signer } = verifyUnderRoots(
    sigstore,
    decoded,
    anchors,
    check.now,
  );
  refuseOtherUuid(decoded);
  refuseOtherContent(decoded, check.statement);
  if (check.policy) authorizeSigner(signer, check.policy);
  return {
    signer,
    trustedRoot: anchor.name,
    rekorUuid: decoded.rekorUuid,
    entry: decoded.entry,
    logUrl: anchor.logUrl(decoded.entry.logIdBase64),
    identity: check.policy ? "trusted" : "unchecked",
  };
}

function verifyUnderRoots(
  sigstore: Sigstore,
  decoded: PluginSignature,
  anchors: readonly TrustAnchor[],
  now: Date,
): { anchor: TrustAnchor; signer: VerifiedSigner } {
  const { bundle, entry } = decoded;
  const knowing = anchors.filter((anchor) =>
    anchor.logUrl(entry.logIdBase64) !== undefined
  );
  let refusal = new SignatureRefusal(
    "SIG_INVALID",
    "No trusted root knows the transparency log that it names",
  );
  for (const anchor of knowing) {
    try {
      const { material } = anchor;
      const signer = verifySigstoreBundle(sigstore, bundle, { material, now });
      requireNames(signer);
      requireListed(anchor, decoded.rekorUuid);
      return { anchor, signer };
    } catch (error) {
      if (!(error instanceof SignatureRefusal)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

function requireNames(signer: VerifiedSigner): void {
  if (!signer.identity || !signer.issuer) {
    throw new SignatureRefusal(
      "SIG_INVALID",
      "The certificate names no identity, or no issuer that vouched for it",
    );
  }
}

function requireListed(anchor: TrustAnchor, uuid: string): void {
  if (anchor.onlyEntries && !anchor.onlyEntries.includes(uuid)) {
    throw new SignatureRefusal(
      "SIG_INVALID",
      `Trusted root "${anchor.name}" does not vouch for this log entry`,
    );
  }
}

/** The UUID is derived data: a copy that differs would point elsewhere. */
function refuseOtherUuid(decoded: PluginSignature): void {
  if (decoded.claimedRekorUuid !== decoded.rekorUuid) {
    throw new SignatureRefusal(
      "REKOR_UUID_MISMATCH",
      `rekor_uuid is not that of the signed log entry, ${decoded.rekorUuid}`,
    );
  }
}

function refuseOtherContent(
  decoded: PluginSignature,
  statement: Uint8Array,
): void {
  const { payload } = decoded;
  const equal = payload.length === statement.length &&
    payload.every((byte, i) => byte === statement[i]);
  if (equal) return;
  throw new SignatureRefusal(
    "CONTENT_MISMATCH",
    describeMismatch(payload, statement),
  );
}

/** Says which member of the statement differs; both sides are only shown. */
function describeMismatch(signed: Uint8Array, actual: Uint8Array): string {
  const predicates = [signed, actual].map((bytes) => {
    try {
      return JSON.parse(new TextDecoder().decode(bytes))?.predicate ?? {};
    } catch {
      return {};
    }
  });
  const [before, now] = predicates as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  const members = [
    "name",
    "version",
    "target",
    "file_count",
    "contents_sha256",
    "manifest_sha256",
  ];
  const differing = members.filter((member) => before[member] !== now[member]);
  return differing.length === 0
    ? "What is signed is not a statement about this bundle"
    : `The signature is about other content: ${differing.join(", ")} ${
      differing.length === 1 ? "differs" : "differ"
    } from what is here`;
}
