/** Keeps identity tokens out of everything that a person or a log will see. */

// A JWT: three base64url parts of which the first starts with `{"`.
const JWT = /eyJ[\w-]{8,}\.[\w-]{4,}(\.[\w-]*)?/g;

/**
 * @param secrets Values to take out wherever they stand; short ones are left,
 *   they could be any word.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) {
    for (const part of [secret, ...secret.split(".")]) {
      if (part.length >= 12) clean = clean.replaceAll(part, "[redacted]");
    }
  }
  return clean.replace(JWT, "[redacted]");
}
