/** Idempotency keys as a header takes them. */
import { sha256Hex } from "../common/digest.ts";

const MAX_CHARS = 200;

/**
 * The key itself where it is plain visible ASCII, else a digest of it: callers
 * may use any text, and a header may not.
 */
export async function headerKey(key: string): Promise<string> {
  if (/^[\x21-\x7e]+$/.test(key) && key.length <= MAX_CHARS) return key;
  return `sha256-${await sha256Hex(key)}`;
}
