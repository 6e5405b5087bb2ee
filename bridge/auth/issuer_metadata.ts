/**
 * Reads the issuer's own description, for `check`: a bridge that is told a
 * slightly wrong issuer refuses everyone, which is found best before the start.
 *
 * Source: RFC 8414 §3.3; OpenID Connect Discovery §4.3.
 */
import type { DependencyStatus } from "../types.ts";
import { fetchText } from "./fetch_text.ts";

/** Options of {@link checkIssuerMetadata}. */
export interface IssuerMetadataOptions {
  readonly issuer: string;
  readonly fetch?: typeof fetch;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const MAX_METADATA_BYTES = 256 * 1024;

/** Compares the issuer's metadata with the configured issuer. Never throws. */
export async function checkIssuerMetadata(
  options: IssuerMetadataOptions,
): Promise<DependencyStatus> {
  const name = "token issuer";
  for (const url of metadataUrls(options.issuer)) {
    const issuer = await readIssuer(url, options);
    if (issuer === undefined) continue;
    if (issuer === options.issuer) return { name, state: "ok" };
    return {
      name,
      state: "down",
      detail:
        "The issuer names itself differently than configured: every token would be refused. Compare the two byte for byte",
    };
  }
  return {
    name,
    state: "degraded",
    detail: "The issuer shows no metadata; tokens can still be checked",
  };
}

/** RFC 8414 puts the well-known part before the path, OpenID Connect after it. */
function metadataUrls(issuer: string): readonly string[] {
  const url = URL.parse(issuer);
  if (url === null || !/^https?:$/.test(url.protocol)) return [];
  const path = url.pathname.replace(/\/$/, "");
  return [
    `${url.origin}/.well-known/oauth-authorization-server${path}`,
    `${url.origin}${path}/.well-known/openid-configuration`,
  ];
}

async function readIssuer(
  url: string,
  options: IssuerMetadataOptions,
): Promise<string | undefined> {
  try {
    const text = await fetchText(url, {
      fetch: options.fetch ?? fetch,
      timeoutMs: options.timeoutMs ?? 5_000,
      maxBytes: MAX_METADATA_BYTES,
      ...(options.signal ? { signal: options.signal } : {}),
    });
    const { issuer } = JSON.parse(text) as { issuer?: unknown };
    return typeof issuer === "string" ? issuer : undefined;
  } catch {
    return undefined;
  }
}
