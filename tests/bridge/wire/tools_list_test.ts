/** tools/list: eight tools, always the same, plain enough for every host. */
import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Sep986 } from "../../../schema/tool_name.ts";
import type { ToolName } from "../../../schema/tools.ts";
import { Harness, type Loose } from "../../support/bridge_harness.ts";

const NAMES = [
  "cyberos.cuo.list_personas",
  "cyberos.cuo.list_workflows",
  "cyberos.cuo.route",
  "cyberos.cuo.execute_workflow",
  "cyberos.memory.read_audit",
  "cyberos.memory.append_audit",
  "cyberos.skill.list_catalog",
  "cyberos.skill.invoke_skill",
];

async function listed(harness: Harness = new Harness()): Promise<Loose[]> {
  return (await harness.request("tools/list")).result.tools;
}

Deno.test("P2-AC02 tools/list gives exactly the eight tools, in the order of the table", async () => {
  const names = (await listed()).map(({ name }) => name);
  assert.deepEqual(names, NAMES);
  for (const name of names) {
    assert.match(name, /^cyberos\.[a-z][a-z0-9]*\.[a-z][a-z0-9_]*$/);
  }
});

Deno.test("P2-AC03 a tool renamed off the SEP-986 pattern does not compile", () => {
  // Each suppression fails the type check if the line below it compiles.
  // @ts-expect-error An upper-case letter.
  const upper: Sep986<"cyberos.cuo.List_personas"> = "";
  // @ts-expect-error A hyphen.
  const hyphen: Sep986<"cyberos.cuo.list-personas"> = "";
  // @ts-expect-error Another root.
  const root: Sep986<"other.cuo.list_personas"> = "";
  // @ts-expect-error A part is missing.
  const short: Sep986<"cyberos.list_personas"> = "";
  // @ts-expect-error A digit leads.
  const digit: Sep986<"cyberos.cuo.1st"> = "";
  // @ts-expect-error An underscore in the module.
  const module: Sep986<"cyberos.c_o.list"> = "";
  // @ts-expect-error Not one of the table.
  const unknown: ToolName = "cyberos.cuo.rename_me";
  const good: Sep986<"cyberos.cuo.list_personas2"> =
    "cyberos.cuo.list_personas2";
  assert.deepEqual(
    [upper, hyphen, root, short, digit, module, unknown, good].length,
    8,
  );
});

Deno.test("HTTP-27 tools/list is the same to the byte each time, and what the SDK's own client accepts", async () => {
  const harness = new Harness();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => listed(harness)),
  );
  const [first] = answers;
  for (const answer of answers) {
    assert.equal(JSON.stringify(answer), JSON.stringify(first));
  }
  ListToolsResultSchema.parse({ tools: first });
});

Deno.test("the encoded list is the list itself, under every kind of id", async () => {
  const harness = new Harness();
  for (const id of [0, "", 'a"b', 7]) {
    const answer = await harness.answer({
      jsonrpc: "2.0",
      id,
      method: "tools/list",
    });
    assert.deepEqual(
      JSON.parse(answer?.encoded ?? ""),
      JSON.parse(JSON.stringify(answer?.response)),
    );
  }
});

Deno.test("tools/list shows the annotations in both vocabularies", async () => {
  const byName = new Map((await listed()).map((tool) => [tool.name, tool]));
  const { annotations } = byName.get("cyberos.memory.append_audit");
  assert.deepEqual(annotations, {
    title: "Append to the audit memory",
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: false,
    destructive: true,
    write: true,
    external_effect: false,
  });
  const invoke = byName.get("cyberos.skill.invoke_skill").annotations;
  assert.equal(invoke.openWorldHint, true);
  assert.equal(invoke.external_effect, true);
  const read = byName.get("cyberos.memory.read_audit").annotations;
  assert.equal(read.readOnlyHint, true);
  assert.equal(read.write, false);
});

Deno.test("tools/list keeps to schemas that every host takes", async () => {
  for (const tool of await listed()) {
    assert.ok(tool.title.length > 0);
    assert.ok(tool.description.length >= 30);
    for (const schema of [tool.inputSchema, tool.outputSchema]) {
      assert.equal(schema.type, "object");
      const text = JSON.stringify(schema);
      assert.ok(!/"(\$ref|anyOf|oneOf|allOf)"/.test(text), tool.name);
    }
  }
});

Deno.test("tools/list refuses a cursor, as there is one page", async () => {
  const harness = new Harness();
  const { error } = await harness.request("tools/list", { cursor: "x" });
  assert.equal(error.code, -32602);
  assert.equal(error.data.errors[0].json_pointer, "/cursor");
});
