/** The audit rows that every plugin owes. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject } from "../json.ts";
import { objectOf, textsIn } from "./parts.ts";

const LIFE_CYCLE = [
  "plugin.installed",
  "plugin.updated",
  "plugin.uninstalled",
  "plugin.invoked",
] as const;

/** Warns where four kinds are listed, but not those of a plugin's life. */
export function checkAudit(manifest: JsonObject, faults: FaultCollector): void {
  const kinds = textsIn(objectOf(manifest.audit).kinds, "")
    .map(({ value }) => value);
  if (kinds.length < LIFE_CYCLE.length) return;
  const missing = LIFE_CYCLE.filter((kind) => !kinds.includes(kind));
  if (missing.length === 0) return;
  faults.add({
    json_pointer: "/audit/kinds",
    constraint: "audit_kinds",
    expected: missing,
    message: `audit.kinds lacks ${missing.join(", ")}`,
    hint: per(
      1,
      "Add them: installing, updating, removing and calling a plugin is always recorded (TASK-PLUGIN-006)",
    ),
    severity: "warning",
  });
}
