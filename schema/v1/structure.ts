/** The manifest against `manifest.schema.json`. */
import type { FaultCollector } from "../collector.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { compileQuick } from "../json_schema/quick.ts";
import manifestSchema from "../manifest.schema.json" with { type: "json" };

/** Reports every place where the value breaks the schema, until the collector is full. */
export async function checkStructure(
  value: JsonValue,
  faults: FaultCollector,
): Promise<void> {
  const isValid = compileQuick(manifestSchema as unknown as JsonObject);
  if (isValid(value)) return;
  // The library and the words are for those who need them.
  const { explainStructure } = await import("./structure_faults.ts");
  explainStructure(value, faults);
}
