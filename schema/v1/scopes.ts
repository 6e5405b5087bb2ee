/** The scopes that login asks for are those that the tools need. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject } from "../json.ts";
import { objectOf, textsIn, toolScopes } from "./parts.ts";

/** One fault for each scope that is on one side only. */
export function checkScopes(
  manifest: JsonObject,
  faults: FaultCollector,
): void {
  const asked = objectOf(manifest.auth).scopes;
  if (!Array.isArray(asked)) return;
  const granted = new Set(textsIn(asked, "").map(({ value }) => value));
  const needed = new Set<string>();
  for (const { value, json_pointer } of toolScopes(manifest)) {
    if (!granted.has(value) && !needed.has(value)) {
      faults.add({
        json_pointer,
        constraint: "auth_scope",
        expected: "a scope of auth.scopes",
        actual: value,
        message: `Scope '${value.slice(0, 80)}' is missing from auth.scopes`,
        hint: per(
          9,
          "Add it to auth.scopes; without it no login yields a token for this tool",
        ),
      });
    }
    needed.add(value);
  }
  for (const { value, json_pointer } of textsIn(asked, "/auth/scopes")) {
    if (needed.has(value)) continue;
    faults.add({
      json_pointer,
      constraint: "unused_scope",
      actual: value,
      message: `Scope '${
        value.slice(0, 80)
      }' is asked for, but no tool needs it`,
      hint: per(9, "Remove it; people should grant only what is used"),
      severity: "warning",
    });
  }
}
