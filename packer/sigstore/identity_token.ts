/** Where the OIDC identity token of the signer comes from. */
import { Buffer } from "node:buffer";
import { PackerError } from "../errors.ts";

/** Tokens and the means to get one, in the order in which they are tried. */
export interface TokenSources {
  /** Given on the command line. */
  readonly token?: string;
  /** Content of a file or of standard input. */
  readonly tokenFile?: string;
  /** `SIGSTORE_ID_TOKEN`. */
  readonly sigstoreIdToken?: string;
  /** `ACTIONS_ID_TOKEN_REQUEST_URL` and `…_TOKEN` of GitHub Actions. */
  readonly actionsRequestUrl?: string;
  /** What GitHub Actions gives to ask it with. */
  readonly actionsRequestToken?: string;
  /** How it is asked. */
  readonly fetch: typeof fetch;
  /** The time to judge expiry by. */
  readonly now: Date;
}

/** An identity token, looked at but not verified: Fulcio does that. */
export interface IdentityToken {
  /** The token itself: a secret. */
  readonly value: string;
  /** As the token says it; for a CI job, the certificate names the workflow instead. */
  readonly subject: string;
  /** Who made the token; the certificate names whom that one relied on. */
  readonly issuer: string;
}

const MAX_TOKEN_CHARACTERS = 16 * 1024;
const TIMEOUT_MS = 10_000;

/**
 * Finds a token.
 *
 * @throws {PackerError} `SIGNING_FAILED`, never with the token in it.
 */
export async function findIdentityToken(
  sources: TokenSources,
): Promise<IdentityToken> {
  const given = sources.token ?? sources.tokenFile ?? sources.sigstoreIdToken;
  const value = given?.trim() || await fromGitHubActions(sources);
  if (!value) {
    throw failed(
      "No identity token was found",
      "Run in GitHub Actions with `permissions: id-token: write`, set SIGSTORE_ID_TOKEN, or give --identity-token-file",
    );
  }
  return readToken(value, sources.now);
}

async function fromGitHubActions(
  sources: TokenSources,
): Promise<string | undefined> {
  const { actionsRequestUrl, actionsRequestToken } = sources;
  if (!actionsRequestUrl || !actionsRequestToken) return undefined;
  let url: URL;
  try {
    url = new URL(actionsRequestUrl);
  } catch {
    throw failed("ACTIONS_ID_TOKEN_REQUEST_URL is not a URL");
  }
  url.searchParams.set("audience", "sigstore");
  try {
    const response = await sources.fetch(url, {
      redirect: "error",
      headers: {
        accept: "application/json",
        authorization: `Bearer ${actionsRequestToken}`,
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw failed(`GitHub's token service answered ${response.status}`);
    }
    const { value } = await response.json();
    return typeof value === "string" ? value : undefined;
  } catch (cause) {
    if (cause instanceof PackerError) throw cause;
    // The cause is left out: it may quote the request with its bearer token.
    throw failed("GitHub's token service cannot be reached");
  }
}

/** Reads the claims that decide what the certificate will say. */
function readToken(value: string, now: Date): IdentityToken {
  const claims = claimsOf(value);
  const { iss, sub, email, exp } = claims;
  if (typeof iss !== "string" || typeof sub !== "string") {
    throw failed("The identity token names no issuer or no subject");
  }
  if (typeof exp !== "number" || exp * 1000 <= now.getTime()) {
    throw failed(
      "The identity token has expired",
      "Fetch a new one: it lives for some minutes only",
    );
  }
  if (!audiences(claims.aud).includes("sigstore")) {
    throw failed(
      'The identity token is not meant for "sigstore"',
      'Ask the issuer for a token whose audience is "sigstore"',
    );
  }
  return {
    value,
    issuer: iss,
    subject: typeof email === "string" && email !== "" ? email : sub,
  };
}

function claimsOf(value: string): Record<string, unknown> {
  const parts = value.split(".");
  try {
    if (value.length > MAX_TOKEN_CHARACTERS || parts.length !== 3) {
      throw new TypeError("Not a JWT");
    }
    const text = Buffer.from(parts[1] ?? "", "base64url").toString("utf8");
    const claims = JSON.parse(text);
    if (typeof claims !== "object" || claims === null) throw new TypeError();
    return claims;
  } catch {
    throw failed("The identity token is not a JSON Web Token");
  }
}

function audiences(aud: unknown): readonly unknown[] {
  return Array.isArray(aud) ? aud : [aud];
}

function failed(message: string, hint?: string): PackerError {
  return new PackerError("SIGNING_FAILED", message, {
    ...(hint !== undefined && { hint }),
  });
}
