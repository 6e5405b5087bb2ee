/** Tool names under the names that hosts give them. */
import { per } from "../clause.ts";
import type { FaultCollector } from "../collector.ts";
import type { JsonObject } from "../json.ts";
import { objectsIn, textOf, textsIn } from "./parts.ts";

interface NameLimit {
  readonly host: string;
  readonly max: number;
  shown(id: string, tool: string): string;
}

const CLAUDE: Omit<NameLimit, "host"> = {
  max: 128,
  shown: (id, tool) => `mcp__plugin_${id}_${id}__${tool.replaceAll(".", "_")}`,
};

/** A host drops a tool whose name is longer, without a word. */
const LIMITS: Readonly<Record<string, NameLimit>> = {
  "claude-code": { host: "Claude Code", ...CLAUDE },
  cowork: { host: "Cowork", ...CLAUDE },
  cursor: { host: "Cursor", max: 60, shown: (id, tool) => id + tool },
};

/** Warns of tools that a target would drop. */
export function checkHostNames(
  manifest: JsonObject,
  faults: FaultCollector,
): void {
  const id = textOf(manifest, "id") ?? "";
  const limits = textsIn(manifest.targets, "").flatMap(({ value }) =>
    Object.hasOwn(LIMITS, value) ? [LIMITS[value] as NameLimit] : []
  );
  for (const { value, json_pointer } of objectsIn(manifest.tools, "/tools")) {
    const name = textOf(value, "name") ?? "";
    const limit = limits.find(({ max, shown }) => shown(id, name).length > max);
    if (limit === undefined) continue;
    faults.add({
      json_pointer: `${json_pointer}/name`,
      constraint: "host_name_length",
      expected: limit.max,
      actual: limit.shown(id, name).length,
      message:
        `${limit.host} drops this tool: plugin id and tool name are too long together`,
      hint: per(
        6,
        `Shorten one of them; ${limit.host} allows ${limit.max} characters`,
      ),
      severity: "warning",
    });
  }
}
