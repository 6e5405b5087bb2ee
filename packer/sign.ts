/** Signs a plugin's content for one host, and puts the signature where `pack` looks. */
import type { Manifest } from "../schema/manifest.ts";
import { DEFAULT_TARGET, signatureFileName } from "./bundle_name.ts";
import { composeBundle, type ComposedBundle } from "./compose.ts";
import { buildStatement } from "./content.ts";
import { collectFiles } from "./disk/collect.ts";
import { writeAtomically } from "./disk/output.ts";
import { PackerError } from "./errors.ts";
import { ARCHIVE_LIMITS } from "./limits.ts";
import {
  escapeReason,
  loadBridge,
  refuseSecrets,
  requireTarget,
} from "./pack.ts";
import type { IdentityToken } from "./sigstore/identity_token.ts";
import { loadSigstore } from "./sigstore/library.ts";
import { withSignature } from "./sigstore/manifest_text.ts";
import { decodeSignature } from "./sigstore/plugin_signature.ts";
import { SignatureRefusal } from "./sigstore/refusal.ts";
import {
  type ManifestSignature,
  PUBLIC_GOOD,
  type SigningServices,
  signStatement,
} from "./sigstore/sign_statement.ts";
import {
  parseTrustedRoot,
  type TrustedRootSource,
} from "./sigstore/trusted_root.ts";
import {
  namesInCertificate,
  type VerifiedSigner,
} from "./sigstore/verify_bundle.ts";
import { verifySignature } from "./sigstore/verify_signature.ts";
import {
  checkFiles,
  folderOf,
  type LoadedManifest,
  loadManifest,
} from "./source.ts";
import { builtInRoots } from "./trust/roots.ts";
import type { Target } from "./types.ts";

/** How to sign. */
export interface SignOptions {
  /** One of the packable hosts; `claude-code` unless given. */
  readonly target?: string;
  /** A compiled bridge that the bundle will take along. */
  readonly bridge?: string;
  /** Asked for once everything else is known to be in order: tokens are short-lived. */
  readonly token: () => Promise<IdentityToken>;
  /** The public-good Sigstore unless given. */
  readonly services?: SigningServices;
  /** A file for the signature, instead of the manifest or the file beside it. */
  readonly signatureFile?: string;
  /** Believed besides the built-in ones when the new signature is verified. */
  readonly trustedRoots?: readonly TrustedRootSource[];
  /** The time to judge the new signature by; now unless given. */
  readonly now?: Date;
}

/** What was signed, and where the signature is now. */
export interface SignResult {
  /** The manifest, or the signature file. */
  readonly written: string;
  /** The host. */
  readonly target: Target;
  /** Where the log has it: 80 lower-case hex digits. */
  readonly rekor_uuid: string;
  /** Who signed. */
  readonly certificate_identity: string;
  /** Who vouched for that. */
  readonly certificate_oidc_issuer: string;
  /** False where no trusted root at hand knows the services that signed. */
  readonly verified: boolean;
}

/**
 * Signs the content that `pack` would pack.
 *
 * The signature goes into the manifest for the default target, and beside it for
 * the others and for bundles with a bridge; on any error nothing is written.
 *
 * @throws {UnknownTargetError} {@link DeferredTargetError}
 * @throws {PackerError} `SIGNING_FAILED`, `TARGET_NOT_DECLARED`,
 *   `MANIFEST_UNREADABLE`, `MANIFEST_INVALID`, `ENTRY_REFUSED`, `OUTPUT_UNWRITABLE`.
 */
export async function sign(
  manifestPath: string,
  options: SignOptions,
): Promise<SignResult> {
  const target = requireTarget(options.target ?? DEFAULT_TARGET);
  const loaded = await loadManifest(manifestPath);
  requireDeclared(loaded, target);
  refuseSecrets(loaded);
  const bridge = await loadBridge(options.bridge);
  const content = await compose(loaded, target, bridge?.entry);
  const statement = await buildStatement(content);
  await requireRoots(options.trustedRoots ?? []);
  const token = await options.token();
  const services = options.services ?? PUBLIC_GOOD;
  const signature = await signStatement(statement, token, services);
  const verified = await verifyNew(signature, statement, options);
  const signer = await signerOf(signature);
  const name = signatureFileName({
    ...loaded.manifest,
    target,
    ...(bridge && { platform: bridge.platform }),
  });
  return {
    written: await store(loaded, signature, options.signatureFile, name),
    target,
    rekor_uuid: signature.rekor_uuid,
    certificate_identity: signer.identity ?? "",
    certificate_oidc_issuer: signer.issuer ?? "",
    verified,
  };
}

function requireDeclared({ manifest, path }: LoadedManifest, target: Target) {
  if (manifest.targets.includes(target)) return;
  throw new PackerError(
    "TARGET_NOT_DECLARED",
    `Cannot sign "${path}" for ${target}: its targets are ${
      manifest.targets.join(", ") || "none"
    }`,
    { hint: `Add "${target}" to "targets", or give --target` },
  );
}

async function requireRoots(roots: readonly TrustedRootSource[]) {
  if (roots.length === 0) return;
  const sigstore = await loadSigstore();
  for (const root of roots) parseTrustedRoot(sigstore, root);
}

async function compose(
  loaded: LoadedManifest,
  target: Target,
  bridge: ComposedBundle["entries"][number] | undefined,
): Promise<ComposedBundle> {
  const { folder, manifest } = loaded;
  const { files } = await collectFiles(folder, manifest, {
    limits: ARCHIVE_LIMITS,
    judge: escapeReason,
  });
  await checkFiles(loaded, files);
  return await composeBundle({
    manifest: manifest as Manifest,
    files,
    target,
    ...(bridge && { bridge }),
  });
}

/** A signature that nobody can verify would be noticed by the users only. */
async function verifyNew(
  signature: ManifestSignature,
  statement: Uint8Array,
  options: SignOptions,
): Promise<boolean> {
  const { services, trustedRoots, now = new Date() } = options;
  const roots = [...builtInRoots(), ...trustedRoots ?? []];
  try {
    await verifySignature({ signature, statement, roots, now });
    return true;
  } catch (cause) {
    if (!(cause instanceof SignatureRefusal)) throw cause;
    if (services !== undefined && trustedRoots === undefined) return false;
    throw new PackerError(
      "SIGNING_FAILED",
      `The new signature does not verify: ${cause.message} (${cause.code})`,
      { cause, hint: "Nothing was written" },
    );
  }
}

/** As the certificate says it, which `doctor` compares: a token's own names may be others. */
async function signerOf(signature: ManifestSignature): Promise<VerifiedSigner> {
  const sigstore = await loadSigstore();
  const { bundle } = decodeSignature(sigstore, signature);
  try {
    return namesInCertificate(sigstore, bundle);
  } catch (cause) {
    throw new PackerError(
      "SIGNING_FAILED",
      "The new certificate does not say who signed",
      { cause, hint: "Nothing was written; check the --fulcio-url" },
    );
  }
}

async function store(
  { path, folder }: LoadedManifest,
  signature: ManifestSignature,
  file: string | undefined,
  name: string | undefined,
): Promise<string> {
  const { sigstore_bundle, rekor_uuid } = signature;
  if (file !== undefined || name !== undefined) {
    const text = JSON.stringify({ sigstore_bundle, rekor_uuid }, null, 2);
    return await write(file ?? `${folder}/${name}`, `${text}\n`);
  }
  const text = await Deno.readTextFile(path);
  return await write(path, withSignature(text, signature));
}

async function write(path: string, text: string): Promise<string> {
  const folder = folderOf(path);
  const name = path.slice(
    Math.max(
      path.lastIndexOf("/"),
      path.lastIndexOf("\\"),
    ) + 1,
  );
  const bytes = new TextEncoder().encode(text);
  await writeAtomically(folder, name, (sink) => sink.write(bytes));
  return path;
}
