/** Whether the signature in a composed bundle is a valid one of its content. */
import type { JsonObject } from "../schema/json.ts";
import { buildStatement, type BundleContent } from "./content.ts";

/** The answer, with the reason where it is no. */
export type SignatureCheck =
  | { readonly valid: true }
  | { readonly valid: false; readonly reason: string };

/** Checks a bundle whose manifest has a signature. */
export type CheckSignature = (
  content: BundleContent,
) => Promise<SignatureCheck>;

/**
 * Checks under the built-in trusted roots.
 *
 * Whether the signature speaks about this content at all is seen without any
 * cryptography; only if it does, the library for that is loaded.
 *
 * @throws {PackerError} `TRUST_ROOT_INVALID`.
 */
export const checkSignature: CheckSignature = async (content) => {
  const statement = await buildStatement(content);
  const signature = content.manifest.signature as JsonObject | undefined;
  const payload = payloadOf(signature?.sigstore_bundle);
  if (payload === undefined) {
    return { valid: false, reason: "it is a placeholder, not a signature" };
  }
  if (payload !== new TextDecoder().decode(statement)) {
    return { valid: false, reason: "it was made for other content" };
  }
  const { verifySignature } = await import("./sigstore/verify_signature.ts");
  const { builtInRoots } = await import("./trust/roots.ts");
  const { SignatureRefusal } = await import("./sigstore/refusal.ts");
  try {
    const roots = builtInRoots();
    await verifySignature({ signature, statement, roots, now: new Date() });
    return { valid: true };
  } catch (error) {
    if (!(error instanceof SignatureRefusal)) throw error;
    return { valid: false, reason: `${error.message} (${error.code})` };
  }
};

function payloadOf(text: unknown): string | undefined {
  try {
    const bundle = JSON.parse(decode(String(text)));
    const payload: unknown = bundle?.dsseEnvelope?.payload;
    return typeof payload === "string" ? decode(payload) : undefined;
  } catch {
    return undefined;
  }
}

function decode(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}
