/** What is wrong with a manifest by `manifest.schema.json`, in words. */
import { Validator } from "@cfworker/json-schema";
import { per } from "../clause.ts";
import type { Fault, FaultCollector } from "../collector.ts";
import { MAX_FINDINGS } from "../collector.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { fromPointer } from "../json_pointer.ts";
import type { SchemaFault } from "../json_schema/faults.ts";
import { toFaults } from "../json_schema/faults.ts";
import { requirement } from "../json_schema/words.ts";
import manifestSchema from "../manifest.schema.json" with { type: "json" };
import { nearest } from "../nearest.ts";
import { knownMembers, LISTS } from "./schema_parts.ts";
import { subjectOf } from "./subjects.ts";

/** Reports every place where the value breaks the schema, until the collector is full. */
export function explainStructure(
  value: JsonValue,
  faults: FaultCollector,
): void {
  const { shell, items } = createValidators();
  report(shell, value, "", faults);
  for (const [name, validator] of items) {
    const list = memberOf(value, name);
    if (!Array.isArray(list)) continue;
    for (let index = 0; index < list.length && !faults.full; index++) {
      report(validator, list[index], `/${name}/${index}`, faults);
    }
  }
}

interface Judge {
  readonly schema: JsonObject;
  readonly validator: Validator;
}

/**
 * The items of lists are judged one by one: the library gathers every fault
 * before it returns any, so that a hostile list would cost memory without bound.
 */
function createValidators(): {
  shell: Judge;
  items: readonly (readonly [string, Judge])[];
} {
  const { $id: _, $defs, properties, ...rest } = prepare(
    manifestSchema as unknown as JsonObject,
  ) as JsonObject & Record<"$defs" | "properties", JsonObject>;
  const withoutItems = Object.entries(properties).map(([name, schema]) => {
    const { items: _, ...list } = schema as JsonObject;
    return [name, Object.hasOwn(LISTS, name) ? list : schema];
  });
  return {
    shell: judge({
      ...rest,
      properties: Object.fromEntries(withoutItems),
      $defs,
    }),
    items: Object.entries(LISTS).map((
      [name, definition],
    ) => [name, judge({ ...$defs[definition] as JsonObject, $defs })]),
  };
}

function judge(schema: JsonObject): Judge {
  return { schema, validator: new Validator(schema, "2020-12", false) };
}

/**
 * A copy for the library, which writes marks into it. Without `uniqueItems`,
 * which it checks in quadratic time: `checkRepetitions` does that.
 */
function prepare(schema: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(schema)) {
    return schema.map((item) => prepare(item) as JsonValue);
  }
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== "uniqueItems" || value !== true)
      .map(([key, value]) => [key, prepare(value)]),
  );
}

function report(
  { schema, validator }: Judge,
  value: JsonValue | undefined,
  prefix: string,
  faults: FaultCollector,
): void {
  const instance = value ?? null;
  const result = validator.validate(instance);
  if (result.valid) return;
  for (
    const fault of toFaults(result.errors, schema, instance, MAX_FINDINGS + 1)
  ) {
    faults.add(explain({
      ...fault,
      json_pointer: prefix + fault.json_pointer,
    }));
  }
}

function explain(fault: SchemaFault): Fault {
  if (fault.constraint === "required") return explainMissing(fault);
  if (fault.constraint === "additionalProperties") return explainUnknown(fault);
  const subject = subjectOf(fault.json_pointer);
  const { must } = subject;
  const formed = fault.constraint === "pattern" ||
    fault.constraint === "format";
  return {
    ...fault,
    message: formed && must !== undefined
      ? `${subject.name} ${shown(fault.actual)} ${must}`
      : `${subject.name} ${requirement(fault)}`,
    hint: fault.constraint === "type"
      ? per(13, `${subject.advice}; types are never converted`)
      : per(subject.clause, subject.advice),
  };
}

function explainMissing(fault: SchemaFault): Fault {
  const [name, parent] = split(fault.json_pointer);
  const subject = subjectOf(fault.json_pointer);
  return {
    ...fault,
    message: `${
      parent === "" ? "/" : parent
    }: required property '${name}' missing`,
    hint: per(subject.clause, subject.advice),
  };
}

function explainUnknown(fault: SchemaFault): Fault {
  const [name, parent] = split(fault.json_pointer);
  const known = knownMembers(parent);
  const meant = nearest(name, known);
  const what = parent === "/capabilities"
    ? `Unknown capability '${name}'`
    : `Unknown property '${name}'`;
  return {
    json_pointer: fault.json_pointer,
    constraint: fault.constraint,
    expected: known,
    message: meant === undefined ? what : `${what}; did you mean '${meant}'?`,
    hint: parent === "/capabilities"
      ? per(5, subjectOf(parent).advice)
      : per(12, "Remove it: the v1 contract is closed"),
    atKey: true,
  };
}

/** The last token, cut for show, and the pointer of what holds it. */
function split(pointer: string): [string, string] {
  const name = fromPointer(pointer)?.at(-1) ?? "";
  return [name.slice(0, 100), pointer.slice(0, pointer.lastIndexOf("/"))];
}

function shown(value: JsonValue | undefined): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= 80
    ? `'${text}'`
    : `'${text.slice(0, 80).toWellFormed()}…'`;
}

function memberOf(value: JsonValue, name: string): JsonValue | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)[name]
    : undefined;
}
