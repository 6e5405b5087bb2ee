/** Checks on what an upstream answered: its numbers and names are claims, not facts. */
import { BridgeError } from "../../errors.ts";
import type { JsonObject, JsonValue } from "../../../schema/json.ts";

/** An answer that is not of the contract's shape. `place` holds no content of it. */
export class ShapeError extends Error {
  override readonly name = "ShapeError";
  constructor(readonly place: string, expected: string) {
    super(`${place} is not ${expected}`);
  }
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,127}$/;
const MAX_DEPTH = 64;

/** Whether the text is a slug or id as CyberOS writes them. */
export function isName(text: string): boolean {
  return NAME.test(text);
}

/** @throws {ShapeError} */
export function asObject(value: unknown, place: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ShapeError(place, "an object");
  }
  return value as JsonObject;
}

/** @throws {ShapeError} */
export function asArray(
  value: unknown,
  place: string,
  maxItems: number,
): readonly JsonValue[] {
  if (!Array.isArray(value)) throw new ShapeError(place, "an array");
  if (value.length > maxItems) {
    throw new ShapeError(place, `an array of at most ${maxItems} items`);
  }
  return value;
}

/** @throws {ShapeError} */
export function asText(value: unknown, place: string, maxChars = 4096): string {
  if (typeof value !== "string" || value.length > maxChars) {
    throw new ShapeError(place, `a text of at most ${maxChars} characters`);
  }
  return value;
}

/** `undefined` where the member is absent or null. @throws {ShapeError} */
export function asOptionalText(
  value: unknown,
  place: string,
  maxChars = 4096,
): string | undefined {
  return value === undefined || value === null
    ? undefined
    : asText(value, place, maxChars);
}

/** @throws {ShapeError} */
export function asName(value: unknown, place: string): string {
  if (typeof value !== "string" || !isName(value)) {
    throw new ShapeError(place, "a name");
  }
  return value;
}

/** @throws {ShapeError} */
export function asTexts(
  value: unknown,
  place: string,
  maxItems = 256,
): readonly string[] {
  return asArray(value, place, maxItems).map((item, index) =>
    asText(item, `${place}/${index}`, 512)
  );
}

/** A whole number from 0 to `max`. @throws {ShapeError} */
export function asCount(
  value: unknown,
  place: string,
  max: number = Number.MAX_SAFE_INTEGER,
): number {
  if (
    typeof value !== "number" || !Number.isSafeInteger(value) || value < 0 ||
    value > max
  ) throw new ShapeError(place, "a whole number in range");
  return value;
}

/** A number from 0 to 1. @throws {ShapeError} */
export function asFraction(value: unknown, place: string): number {
  if (typeof value !== "number" || !(value >= 0 && value <= 1)) {
    throw new ShapeError(place, "a number from 0 to 1");
  }
  return value;
}

/**
 * Refuses values nested deeper than anything of ours: writing them out again
 * would overflow the stack. @throws {ShapeError}
 */
export function checkDepth(value: JsonValue, place: string): void {
  const open: { value: JsonValue; depth: number }[] = [{ value, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== "object" || next.value === null) continue;
    if (next.depth > MAX_DEPTH) {
      throw new ShapeError(place, `nested at most ${MAX_DEPTH} deep`);
    }
    for (const child of Object.values(next.value)) {
      if (typeof child === "object" && child !== null) {
        open.push({ value: child, depth: next.depth + 1 });
      }
    }
  }
}

/**
 * Runs a parser over an upstream's answer.
 *
 * @throws {BridgeError} `UPSTREAM_UNAVAILABLE` where the parser throws {@link ShapeError}.
 */
export function readShape<T>(upstream: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new BridgeError(
      "UPSTREAM_UNAVAILABLE",
      `${upstream} gave an answer that does not follow its contract`,
      {
        cause: error,
        retryable: false,
        hint:
          `The operator must check the version of ${upstream}; the bridge's log says what was wrong.`,
      },
    );
  }
}
