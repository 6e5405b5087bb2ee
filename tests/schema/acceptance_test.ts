/** TASK-PLUGIN-001 §4, the criteria of schema and validator. */
import assert from "node:assert/strict";
import { toSpecError } from "../../schema/finding.ts";
import type { Bendable } from "./support.ts";
import { brief, errorsOf, fixture, minimal } from "./support.ts";

async function refuses(
  change: (manifest: Bendable) => void,
  finding: string,
): Promise<void> {
  assert.deepEqual(brief(await errorsOf(minimal())), [], "positive control");
  assert.deepEqual(brief(await errorsOf(minimal(change))), [finding]);
}

Deno.test("P1-AC01 a missing schema_version is a required property missing", async () => {
  const [error, ...others] = await errorsOf(
    fixture("invalid_missing_schema_version.json"),
  );
  assert.deepEqual(others, []);
  assert.equal(
    error?.message,
    "/: required property 'schema_version' missing",
  );
  assert.equal(error.constraint, "required");
  assert.equal(error.json_pointer, "/schema_version");
});

Deno.test("P1-AC02 schema_version 1.1.0 breaks const", async () => {
  await refuses((m) => m.schema_version = "1.1.0", "/schema_version const");
  const [error] = await errorsOf(minimal((m) => m.schema_version = "1.1.0"));
  assert.equal(error?.expected, "1.0.0");
  assert.match(error?.message ?? "", /this tool knows 1\.0\.0$/);
});

Deno.test("P1-AC03 an id with upper-case letters breaks the pattern", () =>
  refuses((m) => m.id = "CyberOS", "/id pattern"));

Deno.test("P1-AC04 an id of two characters breaks the pattern", async () => {
  await refuses((m) => m.id = "ab", "/id pattern");
  for (const id of ["-ab", "ab-", "a_b", "a.b", "", "a".repeat(65), "abc\n"]) {
    await refuses((m) => m.id = id, "/id pattern");
  }
  for (const id of ["abc", "a-b", "0a1", "a".repeat(64)]) {
    assert.deepEqual(brief(await errorsOf(minimal((m) => m.id = id))), []);
  }
});

Deno.test("P1-AC05 version 1.0 breaks SemVer", () =>
  refuses((m) => m.version = "1.0", "/version pattern"));

Deno.test("P1-AC06 a SemVer pre-release is accepted", async () => {
  const text = minimal((m) => m.version = "1.0.0-beta.1");
  assert.deepEqual(await errorsOf(text), []);
});

Deno.test("P1-AC07 SemVer build metadata is accepted", async () => {
  const text = minimal((m) => m.version = "1.0.0+sha.abc123");
  assert.deepEqual(await errorsOf(text), []);
});

Deno.test("P1-AC08 an unknown capability is an additional property", () =>
  refuses(
    (m) => m.capabilities.hack_the_planet = true,
    "/capabilities/hack_the_planet additionalProperties",
  ));

Deno.test("P1-AC09 a tool name off SEP-986 breaks the pattern", async () => {
  await refuses((m) => m.tools[0].name = "foo.bar", "/tools/0/name pattern");
  const verdicts: Record<string, boolean> = {
    "cyberos.cuo.execute_workflow": true,
    "cyberos.memory.read_audit": true,
    "cyberos.skill.list_catalog": true,
    "CyberOS.cuo.execute": false,
    "cyberos.execute": false,
    "foo.bar.baz": false,
    "cyberos..execute_workflow": false,
    "cyberos.cuo.123_execute": false,
  };
  for (const [name, valid] of Object.entries(verdicts)) {
    const errors = await errorsOf(minimal((m) => m.tools[0].name = name));
    const atName = errors.filter(({ json_pointer }) =>
      json_pointer === "/tools/0/name"
    );
    assert.equal(atName.length, valid ? 0 : 1, name);
  }
});

Deno.test("P1-AC10 another method than oauth-pkce breaks const", () =>
  refuses((m) => m.auth.method = "api-key", "/auth/method const"));

Deno.test("P1-AC11 a missing signature or rekor_uuid is required", async () => {
  assert.deepEqual(
    brief(await errorsOf(fixture("invalid_missing_signature.json"))),
    ["/signature required"],
  );
  await refuses(
    (m) => delete m.signature.rekor_uuid,
    "/signature/rekor_uuid required",
  );
  await refuses(
    (m) => delete m.signature.sigstore_bundle,
    "/signature/sigstore_bundle required",
  );
  const [error] = await errorsOf(minimal((m) => delete m.signature));
  assert.match(error?.hint ?? "", /TASK-PLUGIN-001 §1 clause 8$/);
});

Deno.test("P1-AC12 write_memory without a tool that has its scope is refused", async () => {
  await refuses(
    (m) => m.capabilities.write_memory = true,
    "/capabilities/write_memory capability_scope",
  );
  const coherent = minimal((m) => {
    m.capabilities.write_memory = true;
    m.tools[0].scopes.push("cyberos:memory:write");
    m.auth.scopes.push("cyberos:memory:write");
  });
  assert.deepEqual(await errorsOf(coherent), []);
  const [error] = await errorsOf(
    minimal((m) => m.capabilities.write_memory = true),
  );
  assert.match(error?.message ?? "", /no tool has the scope/);
  assert.match(error?.hint ?? "", /clause 9$/);
});

Deno.test("P1-AC13 a destructive tool without a write scope is refused", async () => {
  const destructive = { destructive: true };
  await refuses(
    (m) => m.tools[0].annotations = destructive,
    "/tools/0/annotations/destructive destructive_scope",
  );
  const covered = minimal((m) => {
    m.tools[0].annotations = destructive;
    m.capabilities.write_memory = true;
    m.tools[0].scopes.push("cyberos:memory:write");
    m.auth.scopes.push("cyberos:memory:write");
  });
  assert.deepEqual(await errorsOf(covered), []);
});

Deno.test("P1-AC23 every finding has an RFC 6901 pointer", async () => {
  const errors = await errorsOf(fixture("invalid_tool_name_and_rekor.json"));
  assert.deepEqual(brief(errors), [
    "/tools/0/name pattern",
    "/signature/rekor_uuid required",
  ]);
  const [name, uuid] = errors.map(toSpecError);
  assert.deepEqual(name, {
    json_pointer: "/tools/0/name",
    constraint: "pattern",
    expected: "^cyberos\\.[a-z][a-z0-9]*\\.[a-z][a-z0-9_]*$",
    actual: "execute_workflow",
    message:
      "Tool name 'execute_workflow' must follow SEP-986: 'cyberos.{module}.{verb}_{noun}'",
    hint:
      "Write a name such as cyberos.cuo.execute_workflow (TASK-MCP-003), per TASK-PLUGIN-001 §1 clause 6",
  });
  assert.deepEqual(Object.keys(uuid ?? {}), [
    "json_pointer",
    "constraint",
    "message",
    "hint",
  ]);
});
