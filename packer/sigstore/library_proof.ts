/** The proof that this process can tell a good signature from a bad one. */
import type { Bundle } from "@sigstore/bundle";
import publicGoodRoot from "../trust/public_good_root.json" with {
  type: "json",
};
import { libraryFault, type Sigstore } from "./library.ts";
import { SignatureRefusal } from "./refusal.ts";
import testBundle from "./known_good_bundle.json" with { type: "json" };
import { parseTrustedRoot } from "./trusted_root.ts";
import { verifySigstoreBundle } from "./verify_bundle.ts";

/**
 * Verifies a real bundle of the public-good log, then the same one with one
 * byte flipped in its payload.
 *
 * A change of runtime or library cannot silently turn verification off, nor
 * silently make it refuse everything.
 *
 * @throws {PackerError} `TRUST_ROOT_INVALID`.
 */
export function proveLibrary(sigstore: Sigstore): void {
  const { material } = parseTrustedRoot(sigstore, {
    name: "library proof",
    json: publicGoodRoot,
  });
  const verify = (bundle: Bundle) =>
    verifySigstoreBundle(sigstore, bundle, { material, now: new Date() });
  try {
    verify(sigstore.bundle.bundleFromJSON(testBundle));
  } catch (cause) {
    throw libraryFault("A genuine Sigstore bundle is refused here", cause);
  }
  const damaged = sigstore.bundle.bundleFromJSON(testBundle);
  if (damaged.content.$case === "dsseEnvelope") {
    const { payload } = damaged.content.dsseEnvelope;
    payload[0] = (payload[0] ?? 0) ^ 1;
  }
  try {
    verify(damaged);
  } catch (error) {
    if (error instanceof SignatureRefusal) return;
    throw error;
  }
  throw libraryFault("A damaged Sigstore bundle is accepted here");
}
