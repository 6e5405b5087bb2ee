/** What breaks which invariant: the report must point to the right one. */
import assert from "node:assert/strict";
import { examineBundle } from "../../packer/doctor/examine.ts";
import {
  INVARIANT_IDS,
  type InvariantId,
} from "../../packer/doctor/invariants.ts";
import { reportText } from "../../packer/doctor/report.ts";
import { memoryEntry } from "../../packer/entry.ts";
import type { JsonObject } from "../../schema/json.ts";
import { shareSigningStack } from "../support/signing_stack/shared.ts";
import { type BundleOptions, makeArchive } from "./support/bundle.ts";
import { MANIFEST } from "./support/plugin.ts";

const shared = shareSigningStack();
const [TOOL] = MANIFEST.tools;

async function examine(options: BundleOptions) {
  const stack = await shared.stack();
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeFile(file, await makeArchive(stack, options));
    return await examineBundle(file, {
      trustedRoots: [{ name: "test", json: stack.trustedRoot }],
    });
  } finally {
    await Deno.remove(file);
  }
}

const CHANGES: readonly (readonly [InvariantId, string, JsonObject])[] = [
  ["reproducible", "a description that is too short", {
    description: "Short.",
  }],
  ["oauth_pkce", "an API key", {
    auth: { ...MANIFEST.auth, method: "api-key" } as JsonObject,
  }],
  ["oauth_pkce", "a token URL that is none", {
    auth: { ...MANIFEST.auth, token_url: "nowhere" } as JsonObject,
  }],
  ["audit", "too few kinds", {
    audit: { ...MANIFEST.audit, kinds: ["plugin.installed"] } as JsonObject,
  }],
  ["capabilities", "one that nobody knows", {
    capabilities: { read_memory: true, hack_the_planet: true },
  }],
  ["capabilities", "one without a tool for it", {
    capabilities: { read_memory: true, write_memory: true },
  }],
  ["capabilities", "a destructive tool without a write scope", {
    tools: [
      { ...TOOL, annotations: { destructive: true } },
    ] as unknown as JsonObject[],
  }],
  ["semver", "a version of two numbers", { version: "1.0" }],
  ["semver", "a version with a leading zero", { version: "1.02.0" }],
];

for (const [id, what, manifest] of CHANGES) {
  Deno.test(`doctor points to "${id}" for ${what}`, async () => {
    const { outcomes } = await examine({ manifest });
    const broken = INVARIANT_IDS.filter((name) =>
      outcomes.get(name)?.status === "fail"
    );
    assert.deepEqual(broken, [id]);
  });
}

Deno.test("doctor names capabilities that are declared and not used", async () => {
  const capabilities = { read_memory: true, execute_workflow: true };
  const { outcomes } = await examine({ manifest: { capabilities } });
  assert.deepEqual(outcomes.get("capabilities"), {
    status: "pass",
    reason:
      "The tools use: read_memory; declared and not used: execute_workflow",
  });
});

Deno.test('doctor points to "tool_names" for a name that is not SEP-986', async () => {
  const tools = [{ ...TOOL, name: "foo.bar" }] as unknown as JsonObject[];
  const { outcomes } = await examine({ manifest: { tools } });
  assert.equal(outcomes.get("tool_names")?.status, "fail");
  assert.equal(outcomes.get("signed")?.status, "pass");
});

Deno.test('doctor points to "signed" for a member of signature that is too many', async () => {
  const { outcomes } = await examine({
    afterSigning: async (entries) => {
      const bytes = await entries.get("plugin.json")?.read();
      const text = new TextDecoder().decode(bytes);
      const more = text.replace(/("rekor_uuid":"[^"]*")/, '"a":1,$1');
      entries.set("plugin.json", await memoryEntry("plugin.json", more));
    },
  });
  assert.equal(outcomes.get("signed")?.status, "fail");
  assert.equal(outcomes.get("reproducible")?.status, "pass");
});

Deno.test("doctor says what is wrong with a manifest's text", async () => {
  const examination = await examine({
    afterSigning: async (entries) => {
      entries.set("plugin.json", await memoryEntry("plugin.json", "\ufeff{}"));
    },
  });
  assert.match(reportText("x", examination), /starts with a byte order mark/);
});
