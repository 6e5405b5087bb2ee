/** Checks of a tool call's arguments against the tool's input schema. */
import type {
  OutputUnit,
  Schema,
  ValidationResult,
  Validator,
} from "@cfworker/json-schema";
import type { JsonObject, JsonValue } from "./json.ts";
import type { SchemaFault } from "./json_schema/faults.ts";
import { toFaults } from "./json_schema/faults.ts";
import { compileQuick } from "./json_schema/quick.ts";
import { requirement } from "./json_schema/words.ts";
import { nearest } from "./nearest.ts";

/** One wrong argument. It never repeats the argument's value. */
export interface ArgumentFault {
  /** RFC 6901 within the arguments; a missing one points where it should be. */
  readonly json_pointer: string;
  /** The JSON Schema keyword that failed. */
  readonly constraint: string;
  /** One sentence, without a full stop. */
  readonly message: string;
  /** The keyword's value, where it says what would be right. */
  readonly expected?: JsonValue;
}

/** Judges arguments; an empty answer means that they are right. Never throws. */
export type ArgumentCheck = (value: JsonValue) => readonly ArgumentFault[];

// Beyond this many members only the first fault is told, as each costs time.
const MAX_MEMBERS = 1000;
const MAX_FAULTS = 50;

const TOO_MANY: ArgumentFault = {
  json_pointer: "",
  constraint: "maxProperties",
  message: `The arguments must have at most ${MAX_MEMBERS} members`,
  expected: MAX_MEMBERS,
};

/**
 * Compiles a tool's input schema. Compile each tool once and keep the check.
 *
 * The schema must be one of ours: its patterns run on JavaScript's backtracking
 * engine and its references are resolved within it.
 *
 * @throws {Error} The schema has a `$ref` that leads nowhere.
 */
export async function compileArguments(
  schema: JsonObject,
): Promise<ArgumentCheck> {
  const library = await import("@cfworker/json-schema");
  // The library writes marks into the schema it is given, so it gets a copy.
  const copy = structuredClone(schema) as JsonObject & Schema;
  const isSurelyRight = compileQuick(copy);
  const quick = new library.Validator(copy, "2020-12", true);
  const thorough = new library.Validator(copy, "2020-12", false);
  quick.validate({});
  return (value) => {
    if (isSurelyRight(value)) return [];
    if (memberCount(value) > MAX_MEMBERS) return [TOO_MANY];
    const first = attempt(quick, value);
    if (first === undefined) return [ILL_FORMED];
    if (first.valid) return [];
    const units = isHuge(value)
      ? first.errors
      : thorough.validate(value).errors;
    return describe(units, copy, value);
  };
}

const ILL_FORMED: ArgumentFault = {
  json_pointer: "",
  constraint: "unicode",
  message: "The arguments must have only well-formed Unicode in their names",
};

/** The library cannot write half a surrogate pair into a location, and throws. */
function attempt(
  validator: Validator,
  value: JsonValue,
): ValidationResult | undefined {
  try {
    return validator.validate(value);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

function describe(
  units: readonly OutputUnit[],
  schema: JsonObject,
  value: JsonValue,
): ArgumentFault[] {
  const faults = toFaults(units, schema, value, MAX_FAULTS);
  return faults.map((fault) => ({
    json_pointer: fault.json_pointer,
    constraint: fault.constraint,
    message: inWords(fault, schema),
    ...(fault.expected === undefined || fault.expected === false
      ? {}
      : { expected: fault.expected }),
  }));
}

function isHuge(value: JsonValue): boolean {
  return typeof value === "object" && value !== null &&
    Object.values(value).some((part) => memberCount(part) > MAX_MEMBERS);
}

function memberCount(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null
    ? Object.keys(value).length
    : 0;
}

function inWords(fault: SchemaFault, schema: JsonObject): string {
  const name = fault.json_pointer === ""
    ? "The arguments"
    : `Argument '${fault.json_pointer.slice(1, 100)}'`;
  switch (fault.constraint) {
    case "required":
      return `${name} is missing`;
    case "additionalProperties":
      return unknownArgument(name, fault.json_pointer, schema);
    default:
      return `${name} ${requirement(fault)}`;
  }
}

function unknownArgument(
  name: string,
  pointer: string,
  schema: JsonObject,
): string {
  const known = Object.keys(schema.properties ?? {});
  const meant = nearest(pointer.slice(1), known);
  return meant === undefined
    ? `${name} is not known`
    : `${name} is not known; did you mean '${meant}'?`;
}
