/** Whatever happens to a manifest, the validator answers: no exception, no hang, no missing pointer. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { JsonValue } from "../../schema/json.ts";
import { fromPointer, resolvePointer } from "../../schema/json_pointer.ts";
import { filesInMemory } from "../../schema/files/port.ts";
import type { ValidationReport } from "../../schema/validate.ts";
import { validateManifest } from "../../schema/validate.ts";
import { validatePlugin } from "../../schema/validate_plugin.ts";
import { mutatedManifest } from "./mutations.ts";
import { complete } from "./support.ts";

function checkReport(report: ValidationReport, value?: JsonValue): void {
  assert.ok(report.findings.length <= 200);
  for (const finding of report.findings) {
    const { json_pointer, constraint, message, hint } = finding;
    const tokens = fromPointer(json_pointer);
    assert.ok(tokens !== undefined, json_pointer);
    assert.match(constraint, /^[A-Za-z0-9_]+$/);
    assert.ok(message.length > 5 && message.length < 700, message);
    assert.doesNotMatch(message, /\.$|undefined|\[object/, message);
    assert.match(hint, /TASK-PLUGIN-001 §1 clause \d+$/, hint);
    assert.ok(finding.line >= 1 && finding.column >= 1);
    if (value === undefined) continue;
    const at = constraint === "required" || json_pointer.endsWith("/type")
      ? json_pointer.slice(0, json_pointer.lastIndexOf("/"))
      : json_pointer;
    assert.notEqual(
      resolvePointer(value, at),
      undefined,
      `${json_pointer} ${constraint}`,
    );
  }
}

Deno.test("validateManifest() answers whatever happens to a manifest", async () => {
  const seen = { valid: 0, invalid: 0 };
  await fc.assert(
    fc.asyncProperty(mutatedManifest(), async (manifest) => {
      const start = performance.now();
      const report = await validateManifest(JSON.stringify(manifest));
      assert.ok(performance.now() - start < 1000);
      seen[report.valid ? "valid" : "invalid"]++;
      checkReport(report, JSON.parse(JSON.stringify(manifest)));
    }),
    { seed: 986, numRuns: 1500 },
  );
  assert.ok(seen.valid > 20 && seen.invalid > 200, JSON.stringify(seen));
});

Deno.test("validateManifest() answers to any text and any bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
      checkReport(await validateManifest(text));
    }),
    { seed: 1, numRuns: 500 },
  );
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
      checkReport(await validateManifest(bytes));
    }),
    { seed: 2, numRuns: 500 },
  );
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => {
      checkReport(await validateManifest(text), JSON.parse(text));
    }),
    { seed: 3, numRuns: 300 },
  );
});

Deno.test("validateManifest() answers to a manifest with bytes changed", async () => {
  const bytes = new TextEncoder().encode(complete());
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 4 }),
      async (changes) => {
        const changed = bytes.slice();
        for (const [at, byte] of changes) changed[at] = byte;
        checkReport(await validateManifest(changed));
      },
    ),
    { seed: 7, numRuns: 500 },
  );
});

Deno.test("validatePlugin() answers whatever is in the declared files", async () => {
  const content = fc.oneof(
    fc.string(),
    fc.uint8Array(),
    fc.array(
      fc.constantFrom(
        "---\n",
        "name: acme-deals\n",
        "description: x: y\n",
        "binds_to:\n- tool: 1\n",
        "binds_to: {}\n",
        "arguments: [1, {}]\n",
        "triggers: [a, a]\n",
        "a: &a [*a]\n",
        "\t",
        "- - - -\n",
        "? [a]\n",
        "!!map {}\n",
        "# When to use\n",
        "{",
        "%YAML 1.1\n",
        "...\n",
      ),
      { maxLength: 12 },
    ).map((lines) => lines.join("")),
  );
  await fc.assert(
    fc.asyncProperty(content, content, async (command, skill) => {
      const files = filesInMemory(
        new Map([
          ["commands/acme-deals.md", toBytes(command)],
          ["skills/acme-visit-report/SKILL.md", toBytes(skill)],
        ]),
      );
      const report = await validatePlugin(complete(), files);
      checkReport(report);
      assert.equal(report.valid, false);
    }),
    { seed: 9, numRuns: 400 },
  );
});

function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === "string"
    ? new TextEncoder().encode(`---\n${content}`)
    : content;
}
