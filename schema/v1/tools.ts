/** What JSON Schema cannot say about tools. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject } from "../json.ts";
import { WRITE_SCOPES } from "../scopes.ts";
import { findTool } from "../tools.ts";
import type { Part } from "./parts.ts";
import { objectOf, objectsIn, textOf, textsIn } from "./parts.ts";

/** Names, annotations against scopes, and agreement with the tools of CyberOS. */
export function checkTools(manifest: JsonObject, faults: FaultCollector): void {
  const tools = objectsIn(manifest.tools, "/tools");
  checkNames(tools, faults);
  for (const tool of tools) {
    if (faults.full) return;
    checkAnnotations(tool, faults);
    checkAgainstCyberos(tool, faults);
  }
}

function checkNames(
  tools: readonly Part<JsonObject>[],
  faults: FaultCollector,
): void {
  const names = new Map<string, string>();
  for (const { value, json_pointer } of tools) {
    const name = textOf(value, "name");
    if (name === undefined) continue;
    const folded = name.toLowerCase().replace(/[._-]/g, "_");
    const first = names.get(folded);
    if (first === undefined) {
      names.set(folded, name);
      continue;
    }
    const same = first === name;
    faults.add({
      json_pointer: `${json_pointer}/name`,
      constraint: same ? "unique_name" : "distinct_name",
      actual: name,
      message: same
        ? `Tool name '${name.slice(0, 100)}' is declared twice`
        : `Tool names '${name.slice(0, 100)}' and '${
          first.slice(0, 100)
        }' differ only in '.', '_' or '-'`,
      hint: per(
        6,
        same
          ? "Keep one of the two"
          : "Rename one: hosts replace these characters, and one of the two would vanish",
      ),
    });
  }
}

/** Source: TASK-PLUGIN-001 §1 clause 14. */
function checkAnnotations(
  { value, json_pointer }: Part<JsonObject>,
  faults: FaultCollector,
): void {
  const { destructive, write } = objectOf(value.annotations);
  const writes = textsIn(value.scopes, "").some((scope) =>
    isWriteScope(scope.value)
  );
  if (destructive === true && !writes) {
    faults.add({
      json_pointer: `${json_pointer}/annotations/destructive`,
      constraint: "destructive_scope",
      expected: [...WRITE_SCOPES],
      actual: true,
      message: `${named(value)} is destructive, but has no write scope`,
      hint: per(
        14,
        "Add the write scope that it needs, such as cyberos:memory:write (TASK-MCP-006)",
      ),
    });
  }
  if (writes && destructive !== true && write !== true) {
    faults.add({
      json_pointer: `${json_pointer}/scopes`,
      constraint: "write_annotation",
      message: `${
        named(value)
      } has a write scope, but is annotated neither write nor destructive`,
      hint: per(
        14,
        'Add "annotations": {"write": true}, or hosts take the tool for read-only (TASK-MCP-006)',
      ),
      severity: "warning",
    });
  }
}

/** A known write scope, or any module's `write`. */
function isWriteScope(scope: string): boolean {
  return (WRITE_SCOPES as readonly string[]).includes(scope) ||
    /^cyberos:[a-z]+:write$/.test(scope);
}

/** A tool that the bridge serves needs the scopes that the bridge will ask for. */
function checkAgainstCyberos(
  { value, json_pointer }: Part<JsonObject>,
  faults: FaultCollector,
): void {
  const known = findTool(textOf(value, "name") ?? "");
  const scopes = textsIn(value.scopes, "").map((scope) => scope.value);
  if (known === undefined || scopes.length === 0) return;
  const expected = [...known.scopes].sort();
  const actual = [...new Set(scopes)].sort();
  if (expected.join() === actual.join()) return;
  faults.add({
    json_pointer: `${json_pointer}/scopes`,
    constraint: "known_tool",
    expected,
    message: `The CyberOS bridge asks for ${
      expected.join(", ")
    } in '${known.name}'`,
    hint: per(9, "Declare exactly these scopes for it (TASK-PLUGIN-002)"),
    severity: "warning",
  });
}

function named(tool: JsonObject): string {
  return `Tool '${(textOf(tool, "name") ?? "without a name").slice(0, 100)}'`;
}
