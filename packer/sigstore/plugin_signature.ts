/** The `signature` member of a manifest: one exact form, taken apart. */
import type { Bundle } from "@sigstore/bundle";
import { Buffer } from "node:buffer";
import canonicalize from "canonicalize";
import { shapeFault } from "./bundle_shape.ts";
import type { Sigstore } from "./library.ts";
import { rekorUuid } from "./rekor_uuid.ts";
import { SignatureRefusal, type SignatureVerdict } from "./refusal.ts";

/** What a signature is made of, none of it verified yet. */
export interface PluginSignature {
  readonly bundle: Bundle;
  /** The DSSE payload: a claim about some content. */
  readonly payload: Uint8Array;
  /** Recomputed from the log entry. */
  readonly rekorUuid: string;
  /** As the manifest has it. */
  readonly claimedRekorUuid: string;
  readonly entry: LoggedSignature;
}

/** Where the log says that it has the signature. */
export interface LoggedSignature {
  /** SHA-256 of the log's key, base64. */
  readonly logIdBase64: string;
  /** Decimal. */
  readonly logIndex: string;
  /** When the log took it. */
  readonly integratedTime: Date;
  /** The canonical entry. */
  readonly body: Uint8Array;
}

/** Characters of the longest `sigstore_bundle` that is looked at. */
export const MAX_BUNDLE_CHARACTERS: number = 256 * 1024;

/** The payload type of an in-toto statement in DSSE. */
export const PAYLOAD_TYPE = "application/vnd.in-toto+json";

/**
 * Takes a manifest's `signature` apart.
 *
 * Only the form that `sign` writes is accepted: a canonical v0.3 bundle with a
 * certificate, a DSSE envelope, and one Rekor v1 entry with promise and proof.
 * One form leaves nothing for two readers to disagree about.
 *
 * @throws {SignatureRefusal} `UNSIGNED`, `SIG_BUNDLE_MALFORMED`,
 *   `SIG_BUNDLE_KIND`, `SIG_TLOG_COUNT`, `SIG_PAYLOAD_TYPE`, `SIG_INVALID`.
 */
export function decodeSignature(
  sigstore: Sigstore,
  signature: unknown,
): PluginSignature {
  const { text, uuid } = members(signature);
  const json = decodeJson(text);
  refuseOtherKinds(json);
  const bundle = parseBundle(sigstore, json, text);
  const { entry, uuid: computed } = loggedEntry(bundle);
  return {
    bundle,
    payload: payloadOf(bundle),
    rekorUuid: computed,
    claimedRekorUuid: uuid,
    entry,
  };
}

function members(signature: unknown): { text: string; uuid: string } {
  if (signature === undefined || signature === null) {
    throw refusal("UNSIGNED", "The manifest has no signature");
  }
  if (!isRecord(signature)) {
    throw malformed("The signature is not an object");
  }
  const { sigstore_bundle: text, rekor_uuid: uuid } = signature;
  if (text === undefined || uuid === undefined || text === "" || uuid === "") {
    throw refusal(
      "UNSIGNED",
      "The signature needs both sigstore_bundle and rekor_uuid",
    );
  }
  if (typeof text !== "string" || typeof uuid !== "string") {
    throw malformed("sigstore_bundle and rekor_uuid must be texts");
  }
  return { text, uuid };
}

function decodeJson(text: string): Record<string, unknown> {
  if (text.length > MAX_BUNDLE_CHARACTERS) {
    throw malformed(
      `sigstore_bundle is over ${MAX_BUNDLE_CHARACTERS} characters long`,
    );
  }
  const bytes = Buffer.from(text, "base64");
  if (bytes.length === 0 || bytes.toString("base64") !== text) {
    throw malformed("sigstore_bundle is not base64");
  }
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw malformed("sigstore_bundle does not hold JSON", cause);
  }
  if (!isRecord(json)) throw malformed("sigstore_bundle holds no JSON object");
  return json;
}

const MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json";

function refuseOtherKinds(json: Record<string, unknown>): void {
  const material = json.verificationMaterial;
  if (json.mediaType !== MEDIA_TYPE) {
    throw kind(`its mediaType is not "${MEDIA_TYPE}"`);
  }
  if (!isRecord(material)) throw malformed("verificationMaterial is missing");
  if (material.publicKey !== undefined) {
    throw kind("it names a bare public key instead of a certificate");
  }
  if (material.x509CertificateChain !== undefined) {
    throw kind("it carries a certificate chain");
  }
  if (json.messageSignature !== undefined) {
    throw kind("it signs bytes and not a statement");
  }
  const entries = material.tlogEntries;
  const count = Array.isArray(entries) ? entries.length : 0;
  if (count !== 1) {
    throw refusal(
      "SIG_TLOG_COUNT",
      `The signature has ${count} log entries, not one`,
    );
  }
}

function parseBundle(
  sigstore: Sigstore,
  json: Record<string, unknown>,
  text: string,
): Bundle {
  const fault = shapeFault(json);
  if (fault !== undefined) throw malformed(`In the Sigstore bundle, ${fault}`);
  try {
    const canonical = Buffer.from(canonicalize(json) ?? "");
    if (canonical.toString("base64") !== text) {
      throw malformed(
        "The Sigstore bundle is not in canonical form (RFC 8785)",
      );
    }
    return sigstore.bundle.bundleFromJSON(json);
  } catch (cause) {
    if (cause instanceof SignatureRefusal) throw cause;
    throw malformed("The signature is not a Sigstore bundle", cause);
  }
}

function payloadOf(bundle: Bundle): Uint8Array {
  if (bundle.content.$case !== "dsseEnvelope") {
    throw kind("it signs bytes and not a statement");
  }
  const { payload, payloadType, signatures } = bundle.content.dsseEnvelope;
  if (payloadType !== PAYLOAD_TYPE) {
    throw refusal(
      "SIG_PAYLOAD_TYPE",
      `What is signed is not an in-toto statement but "${payloadType}"`,
    );
  }
  if (signatures.some(({ keyid }) => keyid !== "")) {
    throw refusal("SIG_INVALID", "A keyless signature has no keyid");
  }
  return payload;
}

function loggedEntry(
  bundle: Bundle,
): { entry: LoggedSignature; uuid: string } {
  const [logged] = bundle.verificationMaterial.tlogEntries;
  if (logged === undefined) {
    throw refusal("SIG_TLOG_COUNT", "The signature has no log entry");
  }
  const { kind: type, version } = logged.kindVersion;
  if (type !== "dsse" || version !== "0.0.1") {
    throw kind(`its log entry is a "${type}" ${version}, not a "dsse" 0.0.1`);
  }
  if (!logged.inclusionPromise || !logged.inclusionProof?.checkpoint) {
    throw refusal(
      "SIG_INVALID",
      "The log entry lacks its promise or its proof",
    );
  }
  const uuid = rekorUuid({
    canonicalizedBody: logged.canonicalizedBody,
    checkpointEnvelope: logged.inclusionProof.checkpoint.envelope,
  });
  if (uuid === undefined) {
    throw refusal("SIG_INVALID", "The log's checkpoint names no Rekor v1 tree");
  }
  return {
    uuid,
    entry: {
      logIdBase64: logged.logId.keyId.toString("base64"),
      logIndex: logged.logIndex,
      integratedTime: new Date(Number(logged.integratedTime) * 1000),
      body: logged.canonicalizedBody,
    },
  };
}

function refusal(code: SignatureVerdict, message: string): SignatureRefusal {
  return new SignatureRefusal(code, message);
}

function malformed(message: string, cause?: unknown): SignatureRefusal {
  return new SignatureRefusal("SIG_BUNDLE_MALFORMED", message, { cause });
}

function kind(reason: string): SignatureRefusal {
  return new SignatureRefusal(
    "SIG_BUNDLE_KIND",
    `The signature is not of the kind that plugins use: ${reason}`,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
