/** JSON and text as PostgreSQL's columns can hold them. */
import type { JsonValue } from "../../schema/json.ts";

// U+0000 and lone surrogates are JSON, but jsonb refuses them.
const SUSPECT = /\\u0000|\\ud[89ab][0-9a-f]{2}|\\ud[c-f][0-9a-f]{2}/i;

/** JSON text in which every character that jsonb refuses is U+FFFD. */
export function toJsonText(value: JsonValue): string {
  const text = JSON.stringify(value);
  return SUSPECT.test(text) ? JSON.stringify(clean(value)) : text;
}

/** A string as a text parameter can hold it; different strings stay different. */
export function toSqlText(text: string): string {
  return text.isWellFormed() && !/[\0\uFFFE]/.test(text)
    ? text
    : `\uFFFE${JSON.stringify(text)}`;
}

function clean(value: JsonValue): JsonValue {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => [cleanText(name), clean(member as JsonValue)]),
    );
  }
  return value;
}

function cleanText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
