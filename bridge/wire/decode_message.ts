/** Bytes to a JSON value: strict UTF-8, strict JSON, bounded depth. */
import type { JsonValue } from "../../schema/json.ts";
import { BridgeError } from "../errors.ts";
import { isObject, isRequestId, type RequestId } from "./json_rpc.ts";

/** How deep a message may nest by default: no tool needs more than a handful. */
export const MAX_JSON_DEPTH: number = 64;

// `ignoreBOM: false` drops exactly one leading byte order mark, as RFC 8259 §8.1 allows.
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** A message that was read and is not taken: its sender waits for an answer to its id. */
export class DeepMessageError extends BridgeError {
  /** Null where it has none that can be answered to. */
  readonly id: RequestId | null;

  /** @param message As it was read. */
  constructor(message: JsonValue, maxDepth: number) {
    super(
      "INVALID_REQUEST",
      `The message nests deeper than ${maxDepth} levels`,
      { hint: "Flatten the arguments or send the deep part as text." },
    );
    const id = isObject(message) && Object.hasOwn(message, "id")
      ? message["id"]
      : null;
    this.id = isRequestId(id) ? id : null;
  }
}

/** The id to answer what {@link decodeMessage} threw with. */
export function idOfFault(error: unknown): RequestId | null {
  return error instanceof DeepMessageError ? error.id : null;
}

/**
 * Decodes one message.
 *
 * The caller bounds the size, as only the transport can stop reading in time.
 *
 * @throws {BridgeError} `PARSE_ERROR` for bytes that are not UTF-8 or not JSON,
 * `INVALID_REQUEST` ({@link DeepMessageError}) for a value that nests too deep.
 */
export function decodeMessage(
  bytes: Uint8Array | string,
  options: { readonly maxDepth?: number } = {},
): JsonValue {
  const value = parse(typeof bytes === "string" ? bytes : decodeText(bytes));
  const maxDepth = options.maxDepth ?? MAX_JSON_DEPTH;
  if (nestsDeeper(value, maxDepth)) throw new DeepMessageError(value, maxDepth);
  return value;
}

function decodeText(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw new BridgeError("PARSE_ERROR", "The message is not UTF-8", { cause });
  }
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (cause) {
    throw new BridgeError("PARSE_ERROR", "The message is not JSON", {
      // V8 quotes the text in its message, and the text may hold a secret.
      cause: (cause as Error).name,
    });
  }
}

function nestsDeeper(value: JsonValue | undefined, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (nestsDeeper(item, levels - 1)) return true;
    }
    return false;
  }
  const members = value as Readonly<Record<string, JsonValue>>;
  for (const key in members) {
    if (nestsDeeper(members[key], levels - 1)) return true;
  }
  return false;
}
