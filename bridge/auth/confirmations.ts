/**
 * Judges pre-signed confirmation tokens: the issuer's word that a person agreed
 * to exactly one call.
 *
 * A token is a JWT of the same issuer, audience and keys as access tokens, with
 * `sub`, `tenant_id`, `tool`, `arguments_sha256` (hex of the SHA-256 over the
 * RFC 8785 form of the arguments) and `iat`. It holds for five minutes. Nothing
 * is kept here about tokens seen: a call's effect is keyed by its token, so that
 * a replay repeats no effect.
 *
 * Source: PRODUCT decision D5; TASK-PLUGIN-002 §1 clause 9.
 */
import type { JsonObject } from "../../schema/json.ts";
import type { Confirmations } from "../ports.ts";
import {
  type AuthenticatorOptions,
  DEFAULT_MAX_TOKEN_BYTES,
  policyOf,
} from "./authenticator.ts";
import type { ClaimPolicy } from "./claims.ts";
import type { CompactJws } from "./compact_jws.ts";

/** `typ` of a confirmation token; `JWT` and none are taken too. */
export const CONFIRMATION_TYPE = "cyberos-confirmation+jwt";

/** How old a confirmation may be. */
export const CONFIRMATION_MAX_AGE_SECONDS = 300;

const TYPES: readonly (string | undefined)[] = [
  CONFIRMATION_TYPE,
  "jwt",
  undefined,
];

type Call = Parameters<Confirmations["verify"]>[1];

/** Creates the judge, from the same options as the authenticator. */
export function createConfirmations(
  options: AuthenticatorOptions,
): Confirmations {
  let verifier: ReturnType<typeof loadVerifier> | undefined;
  return {
    async verify(token, call) {
      try {
        verifier ??= loadVerifier(options);
        const { parseCompactJws, judge, signatures } = await verifier;
        const jws = parseCompactJws(
          token,
          options.maxTokenBytes ?? DEFAULT_MAX_TOKEN_BYTES,
        );
        const nowMs = options.clock.now();
        if (!jws || !await judge(jws, call, nowMs)) return false;
        await signatures.verify(jws, { nowMs, expiresAtMs: nowMs });
        return true;
      } catch {
        // Whatever is wrong with it, it confirms nothing.
        return false;
      }
    },
  };
}

async function loadVerifier(options: AuthenticatorOptions) {
  const [claims, jws, memo, verifier] = await Promise.all([
    import("./claims.ts"),
    import("./compact_jws.ts"),
    import("./signature_memo.ts"),
    import("./token_verifier.ts"),
  ]);
  const judge = async (jws: CompactJws, call: Call, nowMs: number) => {
    const policy = policyOf(options);
    claims.judgeIssuer(jws.payload, policy);
    claims.judgeAudience(jws.payload, policy);
    return TYPES.includes(jws.type) && isRecent(jws, policy, nowMs) &&
      await isForCall(jws, call, claims);
  };
  return {
    parseCompactJws: jws.parseCompactJws,
    judge,
    signatures: verifier.createTokenVerifier({
      keys: options.keys,
      algorithms: options.algorithms ?? ["RS256"],
      memo: memo.createSignatureMemo(0),
    }),
  };
}

function isRecent(
  { payload }: CompactJws,
  policy: ClaimPolicy,
  nowMs: number,
): boolean {
  const { iat, exp } = payload;
  const now = nowMs / 1000;
  const skew = policy.clockToleranceSeconds;
  if (typeof iat !== "number" || iat > now + skew) return false;
  if (now - iat > CONFIRMATION_MAX_AGE_SECONDS + skew) return false;
  return exp === undefined || (typeof exp === "number" && exp + skew > now);
}

async function isForCall(
  { payload }: CompactJws,
  call: Call,
  claims: typeof import("./claims.ts"),
): Promise<boolean> {
  return claims.readSubject(payload) === call.principal.subject &&
    claims.readTenant(payload) === call.principal.tenantId &&
    payload.tool === call.tool &&
    payload.arguments_sha256 === await digestArguments(call.arguments);
}

/**
 * What `arguments_sha256` must be: the SHA-256 of the arguments in RFC 8785
 * form, in lower-case hex. The order of members does not matter.
 */
export async function digestArguments(
  callArguments: JsonObject,
): Promise<string> {
  const { default: canonicalize } = await import("canonicalize");
  const text = canonicalize(callArguments) ?? "";
  const bytes = new TextEncoder().encode(text);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
