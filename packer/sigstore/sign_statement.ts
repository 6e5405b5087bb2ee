/** Keyless signing: a key that lives for seconds, a certificate, a log entry. */
import type * as signModule from "@sigstore/sign";
import canonicalize from "canonicalize";
import { Buffer } from "node:buffer";
import { PackerError } from "../errors.ts";
import { commonJs } from "./common_js.ts";
import type { IdentityToken } from "./identity_token.ts";
import { loadSigstore } from "./library.ts";
import { decodeSignature, PAYLOAD_TYPE } from "./plugin_signature.ts";
import { redact } from "./redact.ts";

/** The two members of a manifest's `signature`. */
export interface ManifestSignature {
  /** base64 of the RFC 8785 JSON of a Sigstore bundle. */
  readonly sigstore_bundle: string;
  /** 80 lower-case hex digits. */
  readonly rekor_uuid: string;
}

/** Whom to ask for certificate, log entry and time stamp. */
export interface SigningServices {
  /** Where certificates come from. */
  readonly fulcioUrl: string;
  /** A log of version 1: only those have UUIDs. */
  readonly rekorUrl: string;
  /** No time stamp is asked for when absent: the log's promise is one. */
  readonly tsaUrl?: string;
  /** Milliseconds for one request. */
  readonly timeoutMs?: number;
  /** Further tries of a failed request. */
  readonly retries?: number;
}

/** The public-good instance. */
export const PUBLIC_GOOD: SigningServices = {
  fulcioUrl: "https://fulcio.sigstore.dev",
  rekorUrl: "https://rekor.sigstore.dev",
};

const TIMEOUT_MS = 15_000;
const RETRIES = 2;

/**
 * Signs a statement.
 *
 * The answer is decoded again as strictly as `doctor` will: a service that
 * gives something else is noticed here and not by the users.
 *
 * @throws {PackerError} `SIGNING_FAILED`, with no token in it.
 */
export async function signStatement(
  statement: Uint8Array,
  token: IdentityToken,
  services: SigningServices,
): Promise<ManifestSignature> {
  const library = commonJs(await import("@sigstore/sign"));
  const { DSSEBundleBuilder } = library;
  const builder = new DSSEBundleBuilder(signing(library, token, services));
  const sigstore = await loadSigstore();
  try {
    const bundle = await builder.create({
      data: Buffer.from(statement),
      type: PAYLOAD_TYPE,
    });
    const json = canonicalize(sigstore.bundle.bundleToJSON(bundle)) ?? "";
    const text = Buffer.from(json).toString("base64");
    const decoded = decodeSignature(sigstore, {
      sigstore_bundle: text,
      rekor_uuid: "to be computed",
    });
    return { sigstore_bundle: text, rekor_uuid: decoded.rekorUuid };
  } catch (error) {
    throw signingFailed(error, token);
  }
}

function signing(
  { FulcioSigner, RekorWitness, TSAWitness }: typeof signModule,
  token: IdentityToken,
  services: SigningServices,
) {
  const limits = {
    timeout: services.timeoutMs ?? TIMEOUT_MS,
    retry: { retries: services.retries ?? RETRIES, minTimeout: 400 },
  };
  const { fulcioUrl, rekorUrl, tsaUrl } = services;
  const signer = new FulcioSigner({
    fulcioBaseURL: withoutSlash(fulcioUrl),
    identityProvider: { getToken: () => Promise.resolve(token.value) },
    ...limits,
  });
  const log = new RekorWitness({
    rekorBaseURL: withoutSlash(rekorUrl),
    entryType: "dsse",
    majorApiVersion: 1,
    ...limits,
  });
  const stamps = tsaUrl === undefined
    ? []
    : [new TSAWitness({ tsaBaseURL: withoutSlash(tsaUrl), ...limits })];
  return { signer, witnesses: [log, ...stamps] };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

const PLACES: Readonly<Record<string, string>> = {
  CA_CREATE_SIGNING_CERTIFICATE_ERROR: "Fulcio gave no certificate",
  TLOG_CREATE_ENTRY_ERROR: "Rekor took no log entry",
  TLOG_FETCH_ENTRY_ERROR: "Rekor did not give its log entry back",
  TSA_CREATE_TIMESTAMP_ERROR: "The time stamp authority gave no time stamp",
  IDENTITY_TOKEN_PARSE_ERROR: "The identity token cannot be read",
};

/** The library's errors quote what they were given; the cause is dropped for it. */
function signingFailed(error: unknown, token: IdentityToken): PackerError {
  const { code, message, cause } = error as {
    code?: string;
    message?: string;
    cause?: { message?: string };
  };
  const place = PLACES[code ?? ""] ?? "Signing failed";
  const detail = redact(cause?.message ?? message ?? "no reason given", [
    token.value,
  ]);
  return new PackerError(
    "SIGNING_FAILED",
    `${place}: ${detail.slice(0, 400)}`,
    {
      hint:
        "Nothing was written; check the token's audience and the --fulcio-url, --rekor-url and --tsa-url",
    },
  );
}
