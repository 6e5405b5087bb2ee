/**
 * Remembers arithmetic, never identity: which exact token bytes carry a valid
 * signature of which key. Claims are read and judged anew on each request.
 *
 * Source: PRODUCT decision D4; TASK-PLUGIN-002 §1 clauses 6 and 12.
 */
import { hash } from "node:crypto";

interface Entry {
  readonly thumbprint: string;
  readonly untilMs: number;
}

/** A bounded map from SHA-256 of a token to the key that signed it. */
export interface SignatureMemo {
  /** Thumbprint of the key whose signature these token bytes carry, while it is remembered. */
  recall(token: string, nowMs: number): string | undefined;
  /** Remembers a verified signature until `untilMs`, at most until the token expires. */
  remember(token: string, thumbprint: string, untilMs: number): void;
}

/**
 * @param maxEntries Least recently used entries go first; 0 remembers nothing,
 * so that each signature is computed.
 */
export function createSignatureMemo(maxEntries: number): SignatureMemo {
  const entries = new Map<string, Entry>();
  return {
    recall(token, nowMs) {
      if (entries.size === 0) return undefined;
      const name = digest(token);
      const entry = entries.get(name);
      if (!entry) return undefined;
      entries.delete(name);
      if (entry.untilMs <= nowMs) return undefined;
      entries.set(name, entry);
      return entry.thumbprint;
    },
    remember(token, thumbprint, untilMs) {
      if (maxEntries < 1) return;
      if (entries.size >= maxEntries) {
        const oldest = entries.keys().next();
        if (!oldest.done) entries.delete(oldest.value);
      }
      entries.set(digest(token), { thumbprint, untilMs });
    },
  };
}

function digest(token: string): string {
  return hash("sha256", token, "hex");
}
