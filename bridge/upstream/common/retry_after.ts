/** `Retry-After`, in both of its forms. Source: RFC 9110 §10.2.3. */

const MAX_SECONDS = 86_400;

/** Whole seconds to wait, at most a day; `undefined` where the header is absent or unreadable. */
export function parseRetryAfter(
  header: string | null,
  nowMs: number,
): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text), MAX_SECONDS);
  // Date.parse takes far more than the three date forms of HTTP.
  if (!/^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text)) return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return undefined;
  const seconds = Math.ceil((at - nowMs) / 1000);
  return Math.min(Math.max(seconds, 0), MAX_SECONDS);
}
