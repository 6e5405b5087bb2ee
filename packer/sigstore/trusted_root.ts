/** Trusted roots: whose certificates, logs and time stamps we believe. */
import type { TrustMaterial } from "@sigstore/verify";
import { PackerError } from "../errors.ts";
import type { Sigstore } from "./library.ts";

/** A trusted root as data, before it was looked at. */
export interface TrustedRootSource {
  /** In plain words, as reports show it. */
  readonly name: string;
  /** The parsed JSON of a Sigstore `trusted_root.json`. */
  readonly json: unknown;
  /**
   * When present, the only log entries that this root vouches for, as Rekor
   * UUIDs: a root whose private keys are said to be destroyed need not be
   * believed about it.
   */
  readonly onlyEntries?: readonly string[];
}

/** A trusted root that can be verified against. */
export interface TrustAnchor {
  readonly name: string;
  readonly material: TrustMaterial;
  readonly onlyEntries?: readonly string[];
  /** Base URL of the log with this id (base64), as the root names it. */
  logUrl(logIdBase64: string): string | undefined;
}

/** Bytes of the largest trusted root file that is read. */
export const MAX_TRUSTED_ROOT_BYTES: number = 1024 * 1024;

const MEDIA_TYPE =
  /^application\/vnd\.dev\.sigstore\.trustedroot(\+json;version=0\.[12]|\.v0\.[12]\+json)$/;

/**
 * Reads a Sigstore trusted root (protobuf JSON, `TrustedRoot` message).
 *
 * The library treats a missing `validFor.start` as "valid since for ever"; a
 * root that leaves it out is refused here instead.
 *
 * @throws {PackerError} `TRUST_ROOT_INVALID`, naming the member at fault.
 */
export function parseTrustedRoot(
  sigstore: Sigstore,
  source: TrustedRootSource,
): TrustAnchor {
  const { json, name } = source;
  if (!isRecord(json) || !MEDIA_TYPE.test(String(json.mediaType))) {
    throw invalid(name, "mediaType is not that of a Sigstore trusted root");
  }
  for (const kind of ["tlogs", "ctlogs"] as const) {
    for (const [i, log] of list(json[kind]).entries()) {
      const key = isRecord(log) ? log.publicKey : undefined;
      requireStart(isRecord(key) ? key.validFor : undefined, name, kind, i);
    }
  }
  const authorities = ["certificateAuthorities", "timestampAuthorities"];
  for (const kind of authorities) {
    for (const [i, authority] of list(json[kind]).entries()) {
      const validFor = isRecord(authority) ? authority.validFor : undefined;
      requireStart(validFor, name, kind, i);
    }
  }
  if (list(json.tlogs).length === 0) throw invalid(name, "tlogs is empty");
  return anchor(sigstore, source);
}

function anchor(sigstore: Sigstore, source: TrustedRootSource): TrustAnchor {
  try {
    const root = sigstore.specs.TrustedRoot.fromJSON(source.json);
    const urls = new Map(root.tlogs.map((log) => [
      log.logId?.keyId.toString("base64") ?? "",
      log.baseUrl,
    ]));
    return {
      name: source.name,
      material: sigstore.verify.toTrustMaterial(root),
      ...(source.onlyEntries && { onlyEntries: source.onlyEntries }),
      logUrl: (logIdBase64) => urls.get(logIdBase64),
    };
  } catch (cause) {
    throw invalid(source.name, "a key or certificate cannot be read", cause);
  }
}

function requireStart(
  validFor: unknown,
  name: string,
  kind: string,
  index: number,
): void {
  const start = isRecord(validFor) ? validFor.start : undefined;
  if (typeof start !== "string" || Number.isNaN(Date.parse(start))) {
    throw invalid(name, `${kind}[${index}] has no validFor.start`);
  }
}

function invalid(name: string, reason: string, cause?: unknown): PackerError {
  return new PackerError(
    "TRUST_ROOT_INVALID",
    `Cannot use trusted root "${name}": ${reason}`,
    {
      cause,
      hint:
        "Give --trusted-root a trusted_root.json in Sigstore's own JSON format",
    },
  );
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
