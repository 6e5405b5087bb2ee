/** JSON Pointers in their plain form. Source: RFC 6901. */
import type { JsonValue } from "./json.ts";

/** `~` and `/` in one reference token, escaped. RFC 6901 §3. */
export function escapeToken(token: string): string {
  return token.includes("~") || token.includes("/")
    ? token.replaceAll("~", "~0").replaceAll("/", "~1")
    : token;
}

/** The pointer of these tokens; the whole document is `""`. */
export function toPointer(tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${escapeToken(String(token))}`).join("");
}

/**
 * The tokens of a pointer, unescaped.
 *
 * @returns `undefined` where the text is no pointer: it must be empty or start
 * with `/`, and `~` must be followed by `0` or `1`.
 */
export function fromPointer(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  return pointer.slice(1).split("/").map((token) =>
    token.replaceAll("~1", "/").replaceAll("~0", "~")
  );
}

/** What a pointer points at, or `undefined` where nothing is there. RFC 6901 §4. */
export function resolvePointer(
  document: JsonValue,
  pointer: string,
): JsonValue | undefined {
  let at: JsonValue | undefined = document;
  for (const token of fromPointer(pointer) ?? [undefined]) {
    at = token === undefined ? undefined : member(at, token);
    if (at === undefined) return undefined;
  }
  return at;
}

function member(
  value: JsonValue | undefined,
  token: string,
): JsonValue | undefined {
  if (Array.isArray(value)) {
    return /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const object = value as { readonly [key: string]: JsonValue | undefined };
  return Object.hasOwn(object, token) ? object[token] : undefined;
}
