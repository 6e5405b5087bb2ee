/** An OIDC identity token, as a CI service would hand it out. */
import { Buffer } from "node:buffer";

/** Whom the token is about. */
export interface TokenClaims {
  readonly issuer: string;
  /** Becomes the certificate's identity. */
  readonly subject: string;
}

/**
 * A JWT with these claims, valid for ten minutes.
 *
 * The stack's Fulcio reads claims and checks no signature, so this one is noise.
 */
export function identityToken(claims: TokenClaims): string {
  const now = Math.floor(Date.now() / 1000);
  const part = (value: unknown) =>
    Buffer.from(JSON.stringify(value)).toString("base64url");
  const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(64)));
  return [
    part({ alg: "ES256", typ: "JWT" }),
    part({
      iss: claims.issuer,
      sub: claims.subject,
      aud: "sigstore",
      iat: now,
      exp: now + 600,
    }),
    noise.toString("base64url"),
  ].join(".");
}
