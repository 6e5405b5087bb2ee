/**
 * Which browser origins may call. Nobody, unless the operator names them.
 *
 * Source: TASK-PLUGIN-002 §1 clause 11; MCP 2025-11-25, basic/transports,
 * "Security Warning"; RFC 6454 §6.2.
 */

/** Tells whether the value of an `Origin` header is allowed. */
export type OriginPolicy = (origin: string) => boolean;

const EXACT = /^https?:\/\/[^/?#*\s]+$/;
/** `https://*.` and a domain of at least two labels, with a port or not. */
const WILDCARD =
  /^https:\/\/\*\.((?:[a-z0-9-]+\.)+[a-z0-9-]+)((?::[0-9]{1,5})?)$/;
/** What may stand for the `*`: one or more labels. */
const LABELS =
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * Creates the policy from origins such as `https://app.example.com` and
 * patterns such as `https://*.example.com`.
 *
 * An exact origin is compared byte for byte. `*` and `null` are refused: either
 * would let any page call with its visitor's token.
 *
 * @throws {RangeError} For a value that is neither.
 */
export function createOriginPolicy(origins: readonly string[]): OriginPolicy {
  const exact = new Set<string>();
  const suffixes: string[] = [];
  for (const origin of origins) {
    const wildcard = WILDCARD.exec(origin);
    if (wildcard) suffixes.push(`.${wildcard[1]}${wildcard[2]}`);
    else exact.add(requireExact(origin));
  }
  return (origin) =>
    exact.has(origin) ||
    suffixes.some((suffix) => isBelow(origin, suffix));
}

function requireExact(origin: string): string {
  if (EXACT.test(origin) && URL.parse(origin)?.origin === origin) return origin;
  throw new RangeError(
    `Cannot allow the browser origin "${origin}": give exact origins such as https://app.example.com or patterns such as https://*.example.com`,
  );
}

function isBelow(origin: string, suffix: string): boolean {
  return origin.startsWith("https://") && origin.endsWith(suffix) &&
    LABELS.test(origin.slice("https://".length, -suffix.length));
}
