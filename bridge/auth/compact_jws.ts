/**
 * Takes a JWS in compact form apart, strictly and without judging it.
 *
 * Source: RFC 7515 §3.1 and §5.2; RFC 8725 §3.
 */
import { Buffer } from "node:buffer";

/** A JWS in compact form. Header and payload are claims of a stranger until verified. */
export interface CompactJws {
  /** All of it, as received. */
  readonly token: string;
  readonly algorithm: string;
  readonly keyId: string | undefined;
  /** Media type in lower case without `application/`; `undefined` where absent. */
  readonly type: string | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
  /** What the signature covers. ASCII. */
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Shared: a decoder without `stream` keeps nothing between calls. */
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses a compact JWS whose header and payload are JSON objects.
 *
 * A `crit` header is refused, since no extension is understood here (RFC 7515
 * §4.1.11). Keys that a header brings or points to (`jwk`, `jku`, `x5c`, `x5u`)
 * are never read.
 *
 * @returns `undefined` where the text is anything else.
 */
export function parseCompactJws(
  token: string,
  maxTokenBytes: number,
): CompactJws | undefined {
  if (token.length > maxTokenBytes || !COMPACT.test(token)) return undefined;
  const first = token.indexOf(".");
  const last = token.lastIndexOf(".");
  const header = decodeObject(token.slice(0, first));
  const payload = decodeObject(token.slice(first + 1, last));
  const signature = decodeBytes(token.slice(last + 1));
  if (!header || !payload || !signature) return undefined;
  const { alg, kid, typ } = header;
  if (typeof alg !== "string" || "crit" in header) return undefined;
  if (kid !== undefined && typeof kid !== "string") return undefined;
  if (typ !== undefined && typeof typ !== "string") return undefined;
  return {
    token,
    algorithm: alg,
    keyId: kid,
    type: typ?.toLowerCase().replace(/^application\//, ""),
    payload,
    signingInput: token.slice(0, last),
    signature,
  };
}

function decodeBytes(text: string): Uint8Array | undefined {
  return text.length % 4 === 1 ? undefined : Buffer.from(text, "base64url");
}

function decodeObject(text: string): Record<string, unknown> | undefined {
  const bytes = decodeBytes(text);
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(UTF8.decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : undefined;
  } catch {
    return undefined;
  }
}
