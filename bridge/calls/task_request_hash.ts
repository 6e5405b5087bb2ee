/** Tells a repeated call from another call under the same key. */
import type { JsonObject, JsonValue } from "../../schema/json.ts";

/** SHA-256 of tool and input, whatever the order of the input's members. Lower-case hex. */
export async function requestHash(
  tool: string,
  input: JsonObject,
): Promise<string> {
  const text = JSON.stringify([tool, sorted(input)]);
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(text),
  );
  return Array.from(
    new Uint8Array(digest),
    (byte) => byte.toString(16).padStart(2, "0"),
  ).join("");
}

function sorted(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => sorted(item) ?? null);
  if (typeof value !== "object" || value === null) return value;
  const object = value as JsonObject;
  return Object.fromEntries(
    Object.keys(object).sort().map((name) => [name, sorted(object[name])]),
  );
}
