/** Any value that RFC 8259 JSON text can hold. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | JsonObject;

/** A JSON object. */
export interface JsonObject {
  /** A member; `undefined` where there is none of the name. */
  readonly [key: string]: JsonValue | undefined;
}
