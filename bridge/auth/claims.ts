/**
 * Judges what an access token says. Pure: signature and keys are not seen here.
 *
 * Source: PRODUCT decision D4; RFC 7519 §4.1; RFC 9068 §2 and §4.
 */
import { BridgeError } from "../errors.ts";
import type { Principal } from "../types.ts";
import type { CompactJws } from "./compact_jws.ts";

/** What a token must be for. */
export interface ClaimPolicy {
  /** Compared byte for byte. */
  readonly issuer: string;
  /** `plugin:<id>` of this bridge. */
  readonly pluginAudience: string;
  /** The resource URLs of this bridge, compared byte for byte. */
  readonly resourceAudiences: readonly string[];
  readonly clockToleranceSeconds: number;
}

/** Members that only an ID token has (OpenID Connect Core §2 and §3.3.2.11). */
const ID_TOKEN_CLAIMS = ["nonce", "at_hash", "c_hash", "s_hash"];
const SCOPE_CLAIMS = ["scope", "scope_grants", "scp"];
const MAX_SCOPES = 256;
const MAX_SUBJECT_LENGTH = 256;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Printable, so that a subject can stand in a log line or an audit row. */
const SUBJECT = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+$/u;
/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]+$/;

type Claims = CompactJws["payload"];

/**
 * Reads the caller from an access token's claims.
 *
 * @throws {BridgeError} `TOKEN_INVALID`, `TOKEN_EXPIRED`.
 */
export function judgeClaims(
  jws: CompactJws,
  policy: ClaimPolicy,
  nowMs: number,
): Principal {
  const claims = jws.payload;
  const scopes = readScopes(claims);
  judgeType(jws, scopes);
  judgeIssuer(claims, policy);
  judgeAudience(claims, policy);
  judgeTimes(jws, policy, nowMs);
  return {
    subject: readSubject(claims),
    tenantId: readTenant(claims),
    scopes: scopes ?? new Set(),
  };
}

/** An ID token or another kind of JWT is no access token, whoever signed it (RFC 8725 §3.11). */
function judgeType(jws: CompactJws, scopes: Set<string> | undefined): void {
  if (jws.type === "at+jwt") return;
  if (jws.type !== undefined && jws.type !== "jwt") {
    throw invalid("The token is of another type than an access token");
  }
  if (!scopes || ID_TOKEN_CLAIMS.some((name) => name in jws.payload)) {
    throw invalid("The token is not an access token");
  }
}

/** Judges `iss`. @throws {BridgeError} `TOKEN_INVALID`. */
export function judgeIssuer(claims: Claims, policy: ClaimPolicy): void {
  if (claims.iss !== policy.issuer) {
    throw invalid("The token is of another issuer");
  }
}

/** Judges `aud`. @throws {BridgeError} `TOKEN_INVALID`. */
export function judgeAudience(claims: Claims, policy: ClaimPolicy): void {
  const audiences = toList(claims.aud);
  if (audiences.includes(policy.pluginAudience)) return;
  if (policy.resourceAudiences.some((url) => audiences.includes(url))) return;
  const foreign = audiences.some((audience) =>
    typeof audience === "string" && audience.startsWith("plugin:")
  );
  if (!foreign) throw invalid("The token is for another service");
  throw invalid(
    "The token is for another plugin",
    `Sign in to this plugin: it takes tokens whose audience is "${policy.pluginAudience}".`,
  );
}

function judgeTimes(
  jws: CompactJws,
  policy: ClaimPolicy,
  nowMs: number,
): void {
  const { exp, nbf, iat } = jws.payload;
  const now = nowMs / 1000;
  const skew = policy.clockToleranceSeconds;
  if (!isTime(exp)) throw invalid("The token has no valid expiry");
  if (nbf !== undefined && !(isTime(nbf) && nbf <= now + skew)) {
    throw invalid("The token is not valid yet");
  }
  if (iat !== undefined && !(isTime(iat) && iat <= now + skew)) {
    throw invalid("The token is issued in the future");
  }
  if (iat === undefined && jws.type === "at+jwt") {
    throw invalid("The token has no time of issue");
  }
  if (exp + skew <= now) {
    throw new BridgeError("TOKEN_EXPIRED", "The token has expired");
  }
}

/** NumericDate within what ECMAScript can hold as a date. */
function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 8.64e12;
}

/** The `sub` claim. @throws {BridgeError} `TOKEN_INVALID`. */
export function readSubject(claims: Claims): string {
  const { sub } = claims;
  if (
    typeof sub !== "string" || sub.length > MAX_SUBJECT_LENGTH ||
    !SUBJECT.test(sub)
  ) {
    throw invalid("The token names no valid subject");
  }
  return sub;
}

/** The tenant, only ever from this claim. @throws {BridgeError} `TOKEN_INVALID`. */
export function readTenant(claims: Claims): string {
  const { tenant_id: tenant } = claims;
  if (typeof tenant !== "string" || !UUID.test(tenant)) {
    throw invalid("The token names no valid tenant");
  }
  return tenant.toLowerCase();
}

/** All scopes of the three claims in use; `undefined` where the token has none of them. */
function readScopes(claims: Claims): Set<string> | undefined {
  let scopes: Set<string> | undefined;
  for (const name of SCOPE_CLAIMS) {
    const value = claims[name];
    if (value === undefined) continue;
    scopes ??= new Set();
    for (const scope of scopeList(name, value)) scopes.add(scope);
  }
  if (scopes && scopes.size > MAX_SCOPES) {
    throw invalid("The token has too many scopes");
  }
  return scopes;
}

function scopeList(name: string, value: unknown): readonly string[] {
  if (typeof value === "string") return value.split(" ").filter(Boolean);
  const list = name === "scope" ? [] : toList(value);
  if (list === value && list.every(isScope)) return list;
  throw invalid("The token's scopes are malformed");
}

function isScope(value: unknown): value is string {
  return typeof value === "string" && SCOPE.test(value);
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function invalid(message: string, hint?: string): BridgeError {
  return new BridgeError("TOKEN_INVALID", message, hint ? { hint } : {});
}
