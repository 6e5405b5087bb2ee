/** The rules of schema version 1.0.0. */
import type { FaultCollector } from "../collector.ts";
import type { JsonValue } from "../json.ts";
import { checkStructure } from "./structure.ts";

/** Applies every rule; a rule looks only at parts that have the right type. */
export async function checkV1(
  value: JsonValue,
  faults: FaultCollector,
): Promise<void> {
  checkStructure(value, faults);
  await Promise.resolve();
}
