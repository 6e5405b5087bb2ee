/** Strict JSON: values with places, faults instead of exceptions. */
export { parseStrictJson } from "./parse.ts";
export { JsonDocument } from "./document.ts";
export type {
  JsonFault,
  JsonNode,
  JsonReading,
  TextPosition,
} from "./document.ts";
export { MANIFEST_LIMITS } from "./limits.ts";
export type { JsonLimits } from "./limits.ts";
export { decodeUtf8, tooLarge } from "./decode.ts";
export type { Decoded } from "./decode.ts";
