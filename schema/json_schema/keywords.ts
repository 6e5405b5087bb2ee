/**
 * Every keyword of JSON Schema 2020-12 with the form that its meta-schema asks
 * for. The meta-schema itself is written with `$dynamicRef`, which small
 * validators ignore, so that they accept anything as a schema.
 *
 * Source: https://json-schema.org/draft/2020-12/schema and its vocabularies;
 * a test compares the table's verdicts with a full implementation's.
 */

/** What a keyword's value must be. */
export type KeywordForm =
  | "schema"
  | "schemas"
  | "schemaMap"
  | "schemaOrNames"
  | "boolean"
  | "text"
  | "regex"
  | "regexMap"
  | "uri"
  | "reference"
  | "id"
  | "anchor"
  | "count"
  | "number"
  | "positive"
  | "types"
  | "list"
  | "names"
  | "namesMap"
  | "vocabulary"
  | "anything";

/** Keywords by name. */
export const KEYWORDS: Readonly<Record<string, KeywordForm>> = {
  $id: "id",
  $schema: "uri",
  $ref: "reference",
  $dynamicRef: "reference",
  $recursiveRef: "reference",
  $anchor: "anchor",
  $dynamicAnchor: "anchor",
  $recursiveAnchor: "anchor",
  $vocabulary: "vocabulary",
  $comment: "text",
  $defs: "schemaMap",
  definitions: "schemaMap",
  prefixItems: "schemas",
  items: "schema",
  contains: "schema",
  additionalProperties: "schema",
  properties: "schemaMap",
  patternProperties: "regexMap",
  dependentSchemas: "schemaMap",
  dependencies: "schemaOrNames",
  propertyNames: "schema",
  if: "schema",
  then: "schema",
  else: "schema",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
  unevaluatedItems: "schema",
  unevaluatedProperties: "schema",
  type: "types",
  const: "anything",
  enum: "list",
  multipleOf: "positive",
  maximum: "number",
  exclusiveMaximum: "number",
  minimum: "number",
  exclusiveMinimum: "number",
  maxLength: "count",
  minLength: "count",
  pattern: "regex",
  maxItems: "count",
  minItems: "count",
  uniqueItems: "boolean",
  maxContains: "count",
  minContains: "count",
  maxProperties: "count",
  minProperties: "count",
  required: "names",
  dependentRequired: "namesMap",
  title: "text",
  description: "text",
  default: "anything",
  deprecated: "boolean",
  readOnly: "boolean",
  writeOnly: "boolean",
  examples: "list",
  format: "text",
  contentEncoding: "text",
  contentMediaType: "text",
  contentSchema: "schema",
};

/** The form of a keyword, or `undefined` for what is no keyword. */
export function formOf(keyword: string): KeywordForm | undefined {
  return Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
}
