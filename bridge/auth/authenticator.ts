/**
 * Turns a bearer token into the caller, anew for every request.
 *
 * Source: PRODUCT decision D4; TASK-PLUGIN-002 §1 clauses 6 and 12.
 */
import { BridgeError } from "../errors.ts";
import type { Authenticator, Clock } from "../ports.ts";
import type { Principal } from "../types.ts";
import type { ClaimPolicy } from "./claims.ts";
import type { KeySource } from "./key_source.ts";

/** Options of {@link createAuthenticator}. */
export interface AuthenticatorOptions {
  /** The `iss` of every token, byte for byte. */
  readonly issuer: string;
  /** Tokens whose audience is `plugin:<id>` are for this bridge. */
  readonly pluginId: string;
  /**
   * Resource URLs that are this bridge's too. Given as a function where the
   * port is not known yet.
   */
  readonly resourceUrls: readonly string[] | (() => readonly string[]);
  readonly keys: KeySource;
  readonly clock: Clock;
  /** Accepted `alg` values; never `none` or a symmetric one. Default RS256. */
  readonly algorithms?: readonly string[];
  /** Leeway for `exp`, `nbf` and `iat`; 0 to 60, default 30. */
  readonly clockToleranceSeconds?: number;
  /** How many signatures are remembered; 0 computes each one. Default 4096. */
  readonly memoEntries?: number;
  /** Longest token that is looked at. Default 16 KiB. */
  readonly maxTokenBytes?: number;
}

/** Longest token that is looked at, where no option says otherwise. */
export const DEFAULT_MAX_TOKEN_BYTES = 16_384;

const ALGORITHMS =
  /^(?:RS|PS)(?:256|384|512)$|^ES(?:256|384|512)$|^Ed(?:DSA|25519)$/;
const MAX_TOLERANCE_SECONDS = 60;

/**
 * Creates the authenticator. Nothing heavy is loaded before the first token.
 *
 * @throws {RangeError} Where an option would weaken the check.
 */
export function createAuthenticator(
  options: AuthenticatorOptions,
): Authenticator {
  checkOptions(options);
  const { clock, keys, maxTokenBytes = DEFAULT_MAX_TOKEN_BYTES } = options;
  let checks: ReturnType<typeof loadChecks> | undefined;
  return {
    async authenticate(token, signal) {
      if (token === undefined || token === "") throw missing();
      checks ??= loadChecks(options);
      const { judgeClaims, parseCompactJws, verifier } = await checks;
      const jws = parseCompactJws(token, maxTokenBytes);
      if (!jws) {
        throw new BridgeError("TOKEN_INVALID", "The token is not a signed JWT");
      }
      const nowMs = clock.now();
      // Claims first: what they refuse costs neither arithmetic nor a key fetch.
      const principal: Principal = judgeClaims(jws, policyOf(options), nowMs);
      const expiresAtMs = Number(jws.payload.exp) * 1000;
      await verifier.verify(jws, { nowMs, expiresAtMs, signal });
      return principal;
    },
    status: (signal) => keys.status(signal),
  };
}

function missing(): BridgeError {
  return new BridgeError("TOKEN_MISSING", "The call carries no access token");
}

async function loadChecks(options: AuthenticatorOptions) {
  const [claims, jws, memo, verifier] = await Promise.all([
    import("./claims.ts"),
    import("./compact_jws.ts"),
    import("./signature_memo.ts"),
    import("./token_verifier.ts"),
  ]);
  return {
    judgeClaims: claims.judgeClaims,
    parseCompactJws: jws.parseCompactJws,
    verifier: verifier.createTokenVerifier({
      keys: options.keys,
      algorithms: options.algorithms ?? ["RS256"],
      memo: memo.createSignatureMemo(options.memoEntries ?? 4096),
    }),
  };
}

/** The claims' policy of these options, at this moment. */
export function policyOf(options: AuthenticatorOptions): ClaimPolicy {
  const { resourceUrls } = options;
  return {
    issuer: options.issuer,
    pluginAudience: `plugin:${options.pluginId}`,
    resourceAudiences: typeof resourceUrls === "function"
      ? resourceUrls()
      : resourceUrls,
    clockToleranceSeconds: options.clockToleranceSeconds ?? 30,
  };
}

function checkOptions(options: AuthenticatorOptions): void {
  const { algorithms = ["RS256"], clockToleranceSeconds = 30 } = options;
  for (const name of algorithms) {
    if (!ALGORITHMS.test(name)) {
      throw new RangeError(
        `Cannot accept the token algorithm "${name}": choose asymmetric ones such as RS256`,
      );
    }
  }
  if (algorithms.length === 0) {
    throw new RangeError("Cannot run without a token algorithm: name RS256");
  }
  if (
    !(clockToleranceSeconds >= 0 &&
      clockToleranceSeconds <= MAX_TOLERANCE_SECONDS)
  ) {
    throw new RangeError(
      `Cannot use a clock tolerance of ${clockToleranceSeconds} s: choose 0 to ${MAX_TOLERANCE_SECONDS}`,
    );
  }
  if (options.issuer === "" || options.pluginId === "") {
    throw new RangeError("Cannot run without a token issuer and a plugin id");
  }
}
