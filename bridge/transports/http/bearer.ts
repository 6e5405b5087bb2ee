/**
 * Bearer tokens in, challenges out.
 *
 * Source: RFC 6750 §2.1 and §3; RFC 9728 §5.1; MCP 2025-11-25, basic/authorization;
 * PRODUCT decision D2.
 */
import { BridgeError } from "../../errors.ts";
import type { Principal } from "../../types.ts";
import type { HeaderRecord } from "./replies.ts";

const SCHEME = /^bearer(?: |$)/i;
const BEARER = /^bearer +([A-Za-z0-9._~+/=-]+) *$/i;

/**
 * The token of an `Authorization` header. Tokens are looked for nowhere else.
 *
 * @returns `undefined` where the request carries no bearer credentials.
 * @throws {BridgeError} `TOKEN_INVALID` for malformed ones, two headers among them.
 */
export function bearerToken(headers: Headers): string | undefined {
  const value = headers.get("authorization");
  if (value === null || !SCHEME.test(value)) return undefined;
  const token = BEARER.exec(value)?.[1];
  if (token === undefined) {
    throw new BridgeError(
      "TOKEN_INVALID",
      "The Authorization header holds no bearer token",
    );
  }
  return token;
}

/** What a challenge is made from. */
export interface ChallengeOptions {
  /** Where this request's protected resource metadata is, if anywhere. */
  readonly metadataUrl: string | undefined;
  /** What a first login should ask for. */
  readonly scopes: readonly string[];
  readonly principal?: Principal;
}

/**
 * `WWW-Authenticate` for an error that calls for one: a missing or bad token,
 * or a missing scope.
 */
export function challenge(
  error: BridgeError | undefined,
  options: ChallengeOptions,
): HeaderRecord {
  switch (error?.code) {
    case "TOKEN_MISSING":
      return header(options, undefined, options.scopes);
    case "TOKEN_INVALID":
    case "TOKEN_EXPIRED":
      return header(
        options,
        { error: "invalid_token", description: error.message },
        options.scopes,
      );
    case "SCOPE_MISSING":
      return header(
        options,
        { error: "insufficient_scope", description: error.message },
        stepUpScopes(error, options.principal),
      );
    default:
      return {};
  }
}

/**
 * Everything the call needs, and what the token has of ours already: a client
 * that asks for exactly these scopes loses none by it.
 */
function stepUpScopes(
  error: BridgeError,
  principal: Principal | undefined,
): readonly string[] {
  const { required_scopes: required, missing_scopes: missing } = error.data;
  const needed = Array.isArray(required)
    ? required
    : Array.isArray(missing)
    ? missing
    : [];
  const held = [...principal?.scopes ?? []].filter((scope) =>
    scope.startsWith("cyberos:")
  );
  return [...new Set([...needed.map(String), ...held])];
}

function header(
  { metadataUrl }: ChallengeOptions,
  problem: { readonly error: string; readonly description: string } | undefined,
  scopes: readonly string[],
): HeaderRecord {
  const parameters = [
    ...(problem
      ? [
        `error="${problem.error}"`,
        `error_description="${quotable(problem.description)}"`,
      ]
      : []),
    ...(metadataUrl === undefined
      ? []
      : [`resource_metadata="${quotable(metadataUrl)}"`]),
    ...(scopes.length > 0 ? [`scope="${quotable(scopes.join(" "))}"`] : []),
  ];
  const separator = parameters.length > 0 ? " " : "";
  return {
    "www-authenticate": `Bearer${separator}${parameters.join(", ")}`,
  };
}

/** Only what RFC 6750 §3 allows between the quotes. */
function quotable(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5B\x5D-\x7E]/g, "");
}
