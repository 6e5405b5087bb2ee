/**
 * The form of input schemas that every host passes on to its model. Hosts that
 * refuse one schema drop the tool, or every tool, without a word.
 */
import type { JsonObject, JsonValue } from "../json.ts";
import { escapeToken } from "../json_pointer.ts";
import type { Subschema } from "./subschemas.ts";
import { isObject } from "./subschemas.ts";

/** A construct that some host refuses. */
export interface HostFault {
  readonly json_pointer: string;
  readonly message: string;
  readonly advice: string;
}

const COMPOSITION = ["anyOf", "oneOf", "allOf"] as const;
const REFERENCES = ["$ref", "$dynamicRef", "$defs", "definitions"] as const;

/** What gives a property a type where `type` does not. */
const TYPED_BY = ["type", "enum", "const", "$ref", ...COMPOSITION] as const;

/** The constructs of one schema that hosts refuse; `targets` are the manifest's. */
export function hostFaults(
  part: Subschema,
  targets: ReadonlySet<string>,
): HostFault[] {
  return [
    ...compositionFaults(part, targets),
    ...referenceFaults(part),
    ...shapeFaults(part),
    ...propertyFaults(part),
  ];
}

function compositionFaults(
  { schema, json_pointer, under }: Subschema,
  targets: ReadonlySet<string>,
): HostFault[] {
  return COMPOSITION.filter((keyword) => schema[keyword] !== undefined)
    .flatMap((keyword) => {
      if (under !== "" && !targets.has("cursor")) return [];
      return [{
        json_pointer: `${json_pointer}/${keyword}`,
        message: under === ""
          ? `'${keyword}' at the top of an input schema is refused by model APIs`
          : `'${keyword}' in an input schema is refused by Cursor`,
        advice:
          "Describe the arguments as one plain object, and check the rest when the tool is called",
      }];
    });
}

function referenceFaults({ schema, json_pointer }: Subschema): HostFault[] {
  return REFERENCES.filter((keyword) => schema[keyword] !== undefined)
    .map((keyword) => ({
      json_pointer: `${json_pointer}/${keyword}`,
      message: `'${keyword}' in an input schema is refused by some hosts`,
      advice: "Write the referenced schema where it is used",
    }));
}

function shapeFaults({ schema, json_pointer, under }: Subschema): HostFault[] {
  const faults: HostFault[] = [];
  if (under === "" && !isObject(schema.properties)) {
    faults.push({
      json_pointer,
      message: "The input schema has no 'properties', which some hosts require",
      advice: 'Add "properties": {} where the tool takes no arguments',
    });
  }
  if (schema.type === "array" && schema.items === undefined) {
    faults.push({
      json_pointer,
      message: "An array without 'items' is refused by some hosts",
      advice: 'Add "items" with the type of the elements',
    });
  }
  if (schema.nullable !== undefined) {
    faults.push({
      json_pointer: `${json_pointer}/nullable`,
      message: "'nullable' belongs to OpenAPI 3.0; JSON Schema ignores it",
      advice: 'Write "type": ["string", "null"], or leave the argument out',
    });
  }
  return faults;
}

function propertyFaults({ schema, json_pointer }: Subschema): HostFault[] {
  if (!isObject(schema.properties)) return [];
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    const at = `${json_pointer}/properties/${escapeToken(name)}`;
    const faults: HostFault[] = [];
    if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(name)) {
      faults.push({
        json_pointer: at,
        message: `Argument name '${
          name.slice(0, 80)
        }' is refused by model APIs`,
        advice: "Use 1 to 64 letters, digits, '_', '.' and '-'",
      });
    }
    if (!isTyped(property)) {
      faults.push({
        json_pointer: at,
        message: `Argument '${
          name.slice(0, 80)
        }' has no 'type', which some hosts require`,
        advice: 'Add "type"',
      });
    }
    return faults;
  });
}

function isTyped(property: JsonValue | undefined): boolean {
  if (!isObject(property)) return false;
  const schema: JsonObject = property;
  return TYPED_BY.some((keyword) => schema[keyword] !== undefined);
}
