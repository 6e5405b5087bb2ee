/**
 * The quick way through a text without any fault, by the runtime's own parser.
 *
 * That parser says nothing about duplicate keys or rounded numbers. But a text
 * that equals its value written out again, apart from white space and how
 * strings are spelled, has neither: a dropped key would be missing, a rounded
 * number would read differently.
 */
import type { JsonValue } from "../json.ts";
import type { JsonLimits } from "./limits.ts";

const STRINGS_AND_SPACE = /"[^"\\]*(?:\\.[^"\\]*)*"|\s+/g;
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
// Integers that may be beyond 2^53.
const LONG_NUMBER = /\d{16}|\d[eE]/;

/** The value of a text without any fault; `undefined` where there may be one. */
export function certify(
  text: string,
  limits: JsonLimits,
): JsonValue | undefined {
  if (SURROGATE_ESCAPE.test(text) || !text.isWellFormed()) return undefined;
  try {
    const value: JsonValue = JSON.parse(text);
    // Only now, as on broken strings the expression would take quadratic time.
    const skeleton = text.replace(STRINGS_AND_SPACE, "");
    if (LONG_NUMBER.test(skeleton) || exceeds(skeleton, limits)) {
      return undefined;
    }
    const written = JSON.stringify(value);
    return written.replace(STRINGS_AND_SPACE, "") === skeleton &&
        !written.includes('"__proto__"')
      ? value
      : undefined;
  } catch {
    return undefined;
  }
}

/** Brackets too deep, or so many elements that one list may be too long. */
function exceeds(skeleton: string, limits: JsonLimits): boolean {
  if (skeleton.split(",").length > limits.maxMembers) return true;
  const brackets = skeleton.replace(/[^[\]{}]+/g, "");
  let depth = 0;
  for (let at = 0; at < brackets.length; at++) {
    const code = brackets.charCodeAt(at);
    depth += code === 0x5b || code === 0x7b ? 1 : -1;
    if (depth > limits.maxDepth) return true;
  }
  return false;
}
