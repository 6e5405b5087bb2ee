/**
 * Capabilities and scopes say the same. A declared capability without its scope
 * makes people grant under false pretences; an undeclared one hides what a tool
 * can do.
 *
 * Source: TASK-PLUGIN-001 §1 clause 9.
 */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject } from "../json.ts";
import type { Capability } from "../scopes.ts";
import { CAPABILITY_SCOPES } from "../scopes.ts";
import { objectOf, toolScopes } from "./parts.ts";

/**
 * The specification's own minimal manifest (§3) declares these without a tool
 * for them, so for them alone it is no error.
 */
const TOLERATED: ReadonlySet<string> = new Set<Capability>([
  "read_memory",
  "execute_workflow",
  "list_skills",
]);

/** Both directions, one fault for each capability. */
export function checkCapabilities(
  manifest: JsonObject,
  faults: FaultCollector,
): void {
  const declared = objectOf(manifest.capabilities);
  const scopes = toolScopes(manifest);
  for (const [capability, scope] of Object.entries(CAPABILITY_SCOPES)) {
    const carrier = scopes.find(({ value }) => value === scope);
    const isDeclared = declared[capability] === true;
    if (isDeclared && carrier === undefined) {
      faults.add({
        json_pointer: `/capabilities/${capability}`,
        constraint: "capability_scope",
        expected: scope,
        actual: true,
        message:
          `Capability '${capability}' is declared, but no tool has the scope '${scope}'`,
        hint: per(
          9,
          `Add '${scope}' to the scopes of the tool that needs it, or remove the capability`,
        ),
        severity: TOLERATED.has(capability) ? "warning" : "error",
      });
    }
    if (!isDeclared && carrier !== undefined) {
      faults.add({
        json_pointer: carrier.json_pointer,
        constraint: "scope_capability",
        expected: capability,
        actual: scope,
        message:
          `Scope '${scope}' needs the capability '${capability}', which is not declared`,
        hint: per(
          9,
          `Add "${capability}": true to capabilities, or remove the scope`,
        ),
      });
    }
  }
}
