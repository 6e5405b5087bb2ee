/** Every tool's `input_schema`: a schema, by itself, in the form that hosts take. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject } from "../json.ts";
import { hostFaults } from "../json_schema/host_form.ts";
import { metaFaults, metaRequirement } from "../json_schema/meta_schema.ts";
import { KEYWORDS } from "../json_schema/keywords.ts";
import {
  MAX_PATTERN_LENGTH,
  mayBacktrackForever,
} from "../json_schema/patterns.ts";
import { isPlain } from "../json_schema/plain.ts";
import { referenceFaults } from "../json_schema/references.ts";
import type { Subschema } from "../json_schema/subschemas.ts";
import { isObject, subschemas } from "../json_schema/subschemas.ts";
import { nearest } from "../nearest.ts";
import { objectsIn, textsIn } from "./parts.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Checks the schemas as data; none of them is ever run or fetched. */
export function checkInputSchemas(
  manifest: JsonObject,
  faults: FaultCollector,
): void {
  const targets = new Set(
    textsIn(manifest.targets, "").map(({ value }) => value),
  );
  for (const { value, json_pointer } of objectsIn(manifest.tools, "/tools")) {
    const schema = value.input_schema;
    if (!isObject(schema) || isPlain(schema)) continue;
    const pointer = `${json_pointer}/input_schema`;
    checkTop(schema, pointer, faults);
    const parts = subschemas(schema, pointer);
    for (const part of parts) {
      if (faults.full) return;
      checkKeywords(part, faults);
      checkPatterns(part, faults);
      for (const { advice, ...fault } of hostFaults(part, targets)) {
        if (faults.has(fault.json_pointer)) continue;
        faults.add({
          ...fault,
          constraint: "host_form",
          hint: per(1, advice),
          severity: "warning",
        });
      }
    }
    checkReferences(schema, parts, faults);
  }
}

/** Source: MCP 2025-11-25, `Tool.inputSchema`. */
function checkTop(
  schema: JsonObject,
  pointer: string,
  faults: FaultCollector,
): void {
  if (schema.type !== "object") {
    faults.add({
      json_pointer: `${pointer}/type`,
      constraint: schema.type === undefined ? "required" : "const",
      expected: "object",
      ...(schema.type === undefined ? {} : { actual: schema.type }),
      message: schema.type === undefined
        ? `${pointer}: required property 'type' missing`
        : "The top of an input schema must have the type 'object'",
      hint: per(1, 'Write "type": "object"; arguments are always an object'),
    });
  }
  const dialect = schema.$schema;
  if (typeof dialect === "string" && dialect.replace(/#$/, "") !== DIALECT) {
    faults.add({
      json_pointer: `${pointer}/$schema`,
      constraint: "dialect",
      expected: DIALECT,
      actual: dialect,
      message:
        "The input schema names another dialect than JSON Schema 2020-12",
      hint: per(1, "Remove $schema, and write the schema in 2020-12"),
    });
  }
}

function checkKeywords(
  { schema, json_pointer }: Subschema,
  faults: FaultCollector,
): void {
  for (const fault of metaFaults(schema, json_pointer)) {
    if (faults.has(fault.json_pointer)) continue;
    faults.add({
      json_pointer: fault.json_pointer,
      constraint: "json_schema",
      expected: fault.expected,
      actual: fault.actual,
      message: `'${fault.keyword}' ${metaRequirement(fault)}`,
      hint: per(1, "Correct the schema by JSON Schema 2020-12"),
    });
  }
  for (const keyword of Object.keys(schema)) {
    if (Object.hasOwn(KEYWORDS, keyword)) continue;
    const meant = nearest(keyword, Object.keys(KEYWORDS));
    if (meant === undefined) continue;
    faults.add({
      json_pointer: `${json_pointer}/${keyword}`,
      constraint: "unknown_keyword",
      expected: meant,
      message: `Unknown keyword '${keyword}'; did you mean '${meant}'?`,
      hint: per(1, "Correct it: validators ignore keywords they do not know"),
      severity: "warning",
      atKey: true,
    });
  }
}

function checkPatterns(
  { schema, json_pointer }: Subschema,
  faults: FaultCollector,
): void {
  const patterns = isObject(schema.patternProperties)
    ? Object.keys(schema.patternProperties)
    : [];
  if (typeof schema.pattern === "string") patterns.push(schema.pattern);
  for (const pattern of patterns) {
    const place = pattern === schema.pattern ? "pattern" : "patternProperties";
    const tooLong = pattern.length > MAX_PATTERN_LENGTH;
    if (!tooLong && !mayBacktrackForever(pattern)) continue;
    faults.add({
      json_pointer: `${json_pointer}/${place}`,
      constraint: tooLong ? "pattern_length" : "pattern_time",
      actual: pattern,
      message: tooLong
        ? `A pattern must have at most ${MAX_PATTERN_LENGTH} characters`
        : "The pattern can take exponential time on some texts",
      hint: per(
        1,
        tooLong
          ? "Shorten the pattern"
          : "Do not repeat a group of repeated parts: write a+ for (a+)+",
      ),
      severity: tooLong ? "error" : "warning",
    });
  }
}

const PROBLEMS = {
  remote: "leads out of the input schema",
  unresolved: "leads nowhere",
  circular: "leads back to itself",
} as const;

function checkReferences(
  schema: JsonObject,
  parts: readonly Subschema[],
  faults: FaultCollector,
): void {
  for (const fault of referenceFaults(schema, parts)) {
    faults.add({
      json_pointer: fault.json_pointer,
      constraint: "self_contained",
      expected: "a reference within the input schema",
      actual: fault.reference,
      message: `The reference '${fault.reference.slice(0, 100)}' ${
        PROBLEMS[fault.problem]
      }`,
      hint: per(
        1,
        "Write the schema out where it is used; nothing is ever fetched",
      ),
    });
  }
}
