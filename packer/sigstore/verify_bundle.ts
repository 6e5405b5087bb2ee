/** Sigstore verification, with the checks that the library leaves to its caller. */
import { Buffer } from "node:buffer";
import type { Bundle } from "@sigstore/bundle";
import type { TrustMaterial } from "@sigstore/verify";
import type { Sigstore } from "./library.ts";
import { readCheckpoint } from "./rekor_uuid.ts";
import { SignatureRefusal } from "./refusal.ts";

/** Who signed, as the certificate says it; both absent for a bare public key. */
export interface VerifiedSigner {
  /** The certificate's only Subject Alternative Name. */
  readonly identity: string | undefined;
  /** The OIDC issuer that vouched for the identity, from the certificate. */
  readonly issuer: string | undefined;
}

/** What a bundle is verified against. */
export interface VerifyOptions {
  readonly material: TrustMaterial;
  /** The signed bytes, for a bundle that signs an artifact and not an envelope. */
  readonly artifact?: Uint8Array;
  readonly now: Date;
}

/** How far the log's clock may be ahead of ours. */
export const CLOCK_SKEW_MS: number = 5 * 60 * 1000;

/**
 * Verifies certificate chain, SCT, log entry, time stamps and signature.
 *
 * Identity is *not* judged: see `policy.ts`.
 *
 * @returns The signer.
 * @throws {SignatureRefusal} `SIG_INVALID`, `SIG_FROM_FUTURE`.
 */
export function verifySigstoreBundle(
  sigstore: Sigstore,
  bundle: Bundle,
  options: VerifyOptions,
): VerifiedSigner {
  const signer = guarded(() => {
    const { Verifier, toSignedEntity } = sigstore.verify;
    const artifact = options.artifact && Buffer.from(options.artifact);
    const entity = toSignedEntity(bundle, artifact);
    return new Verifier(options.material).verify(entity);
  });
  guarded(() => checkInclusionProofs(bundle));
  guarded(() => checkLoggedCertificates(sigstore, bundle));
  const identity = guarded(() => subjectAlternativeName(sigstore, bundle));
  refuseFuture(bundle, options.now);
  return { identity, issuer: signer.identity?.extensions?.issuer };
}

/** Junk makes the library throw all kinds of errors; each means "not valid". */
function guarded<T>(check: () => T): T {
  try {
    return check();
  } catch (cause) {
    if (cause instanceof SignatureRefusal) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SignatureRefusal("SIG_INVALID", reason, { cause });
  }
}

function invalid(reason: string): SignatureRefusal {
  return new SignatureRefusal("SIG_INVALID", reason);
}

/** The library proves against the signed checkpoint and ignores these copies. */
function checkInclusionProofs(bundle: Bundle): void {
  for (const { inclusionProof } of bundle.verificationMaterial.tlogEntries) {
    if (inclusionProof?.checkpoint === undefined) continue;
    const signed = readCheckpoint(inclusionProof.checkpoint.envelope);
    if (
      signed === undefined || signed.treeSize !== inclusionProof.treeSize ||
      !signed.rootHash.equals(inclusionProof.rootHash)
    ) {
      throw invalid("the inclusion proof differs from the signed checkpoint");
    }
  }
}

/** The log entry must be about this certificate, not only this signature. */
function checkLoggedCertificates(sigstore: Sigstore, bundle: Bundle): void {
  const leaf = leafCertificate(bundle);
  if (leaf === undefined) return;
  for (const entry of bundle.verificationMaterial.tlogEntries) {
    const { kind, version } = entry.kindVersion;
    if (kind !== "dsse" || version !== "0.0.1") continue;
    const body = JSON.parse(entry.canonicalizedBody.toString("utf8"));
    const logged = String(body.spec?.signatures?.[0]?.verifier ?? "");
    const pem = Buffer.from(logged, "base64").toString("ascii");
    if (!sigstore.core.pem.toDER(pem).equals(leaf)) {
      throw invalid("the log entry names another certificate");
    }
  }
}

function leafCertificate(bundle: Bundle): Buffer | undefined {
  const { content } = bundle.verificationMaterial;
  switch (content.$case) {
    case "certificate":
      return Buffer.from(content.certificate.rawBytes);
    case "x509CertificateChain":
      return Buffer.from(
        content.x509CertificateChain.certificates[0]?.rawBytes ?? [],
      );
    default:
      return undefined;
  }
}

const URI_OR_EMAIL = [0x06, 0x01];

/** The library shows the first of several names; only one may be there. */
function subjectAlternativeName(
  sigstore: Sigstore,
  bundle: Bundle,
): string | undefined {
  const leaf = leafCertificate(bundle);
  if (leaf === undefined) return undefined;
  const certificate = sigstore.core.X509Certificate.parse(Buffer.from(leaf));
  const names = certificate.extSubjectAltName?.valueObj.subs[0]?.subs ?? [];
  const [name] = names;
  if (name === undefined || names.length !== 1) {
    throw invalid(`the certificate has ${names.length} subject names, not one`);
  }
  if (!URI_OR_EMAIL.some((tag) => name.tag.isContextSpecific(tag))) {
    throw invalid("the certificate's subject is neither a URI nor an e-mail");
  }
  return name.value.toString("utf8");
}

const ISSUER_OIDS = ["1.3.6.1.4.1.57264.1.8", "1.3.6.1.4.1.57264.1.1"];

/**
 * Whom the certificate names, believing it: for a signature that was made a
 * moment ago, under services that no trusted root at hand may know.
 */
export function namesInCertificate(
  sigstore: Sigstore,
  bundle: Bundle,
): VerifiedSigner {
  const identity = subjectAlternativeName(sigstore, bundle);
  const leaf = Buffer.from(leafCertificate(bundle) ?? []);
  const certificate = sigstore.core.X509Certificate.parse(leaf);
  const [current = "", old = ""] = ISSUER_OIDS;
  const issuer = certificate.extension(current)?.valueObj.subs[0]?.value ??
    certificate.extension(old)?.value;
  return { identity, issuer: issuer?.toString("utf8") };
}

function refuseFuture(bundle: Bundle, now: Date): void {
  for (const { integratedTime } of bundle.verificationMaterial.tlogEntries) {
    if (Number(integratedTime) * 1000 > now.getTime() + CLOCK_SKEW_MS) {
      const when = new Date(Number(integratedTime) * 1000);
      throw new SignatureRefusal(
        "SIG_FROM_FUTURE",
        `The log says that it was signed at ${
          isoOr(when)
        }, which is still to come`,
      );
    }
  }
}

function isoOr(when: Date): string {
  return Number.isNaN(when.getTime()) ? "no known time" : when.toISOString();
}
