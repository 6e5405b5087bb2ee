/** The plugin that this repository publishes: packed and signed for every host. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { pack, TARGETS } from "../../mod.ts";

const MANIFEST = fileURLToPath(
  new URL("../../manifests/cyberos@1.0.0.plugin.json", import.meta.url),
);

for (const target of TARGETS) {
  Deno.test(`the shipped manifest packs for ${target} with a valid signature`, async () => {
    const outDir = await Deno.makeTempDir();
    try {
      // If this fails after a change of content: deno task sign:dev.
      const result = await pack(MANIFEST, { target, outDir, verify: true });
      assert.equal(result.signature, "verified");
      assert.equal(result.tools_count, 8);
      const counts = {
        "claude-code": [4, 12],
        cowork: [4, 12],
        cursor: [4, 0],
        "codex-cli": [0, 16],
      }[target];
      assert.deepEqual([result.commands_count, result.skills_count], counts);
    } finally {
      await Deno.remove(outDir, { recursive: true });
    }
  });
}
