/**
 * Each generation of the contract has rules of its own, side by side, so that
 * a second one is added here and the first is never touched.
 *
 * Source: TASK-PLUGIN-001 §1 clause 2 and §11.6 (`validate_dispatch`).
 */
import { per } from "./clause.ts";
import type { Fault, FaultCollector } from "./collector.ts";
import { foreignKind } from "./foreign.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import { checkV1 } from "./v1/mod.ts";

type Rules = (value: JsonValue, faults: FaultCollector) => Promise<void>;

const VERSIONS: ReadonlyMap<string, Rules> = new Map([["1.0.0", checkV1]]);

/** The versions of the manifest contract that this tool knows. */
export const KNOWN_SCHEMA_VERSIONS: readonly string[] = [...VERSIONS.keys()];

/**
 * Applies the rules that the value's `schema_version` names. Without a version
 * as text the first rules apply, as they say what is wrong with it.
 */
export async function validateDispatch(
  value: JsonValue,
  faults: FaultCollector,
): Promise<void> {
  const version = isObject(value) ? value.schema_version : undefined;
  if (typeof version === "string" && !VERSIONS.has(version)) {
    return faults.addOnly(unknownVersion(version, foreignKind(value)));
  }
  const foreign = version === undefined ? foreignKind(value) : undefined;
  if (foreign !== undefined) return faults.addOnly(foreignFile(foreign));
  await (VERSIONS.get(String(version)) ?? checkV1)(value, faults);
}

function unknownVersion(version: string, foreign: string | undefined): Fault {
  const known = KNOWN_SCHEMA_VERSIONS.join(", ");
  const what = `Schema version '${version.slice(0, 40)}' is not known`;
  return {
    json_pointer: "/schema_version",
    constraint: "const",
    expected: KNOWN_SCHEMA_VERSIONS.at(-1) ?? "",
    actual: version,
    message: foreign === undefined
      ? `${what}; this tool knows ${known}`
      : `${what}: this looks like ${foreign}, not a CyberOS manifest`,
    hint: foreign === undefined
      ? per(2, `Write one of ${known}, or use a newer cyberos-plugin`)
      : per(2, CARRY_OVER),
  };
}

function foreignFile(foreign: string): Fault {
  return {
    json_pointer: "/schema_version",
    constraint: "required",
    message:
      `/: required property 'schema_version' missing: this looks like ${foreign}, not a CyberOS manifest`,
    hint: per(2, CARRY_OVER),
  };
}

const CARRY_OVER =
  "Run `cyberos-plugin init` for a CyberOS manifest and carry the content over";

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
