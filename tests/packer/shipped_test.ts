/** The plugin that this repository publishes: packed and signed for every host. */
import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { pack, type PackNotice, type Target, TARGETS } from "../../mod.ts";

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

Deno.test("the shipped signature does not hold for changed content", async () => {
  const root = await Deno.makeTempDir();
  try {
    const copy = `${root}/source`;
    await cp(dirname(MANIFEST), copy, { recursive: true });
    const manifest = `${copy}/${basename(MANIFEST)}`;
    const packIt = async (target: Target) => {
      const notices: PackNotice[] = [];
      const { signature } = await pack(manifest, {
        target,
        outDir: `${root}/out`,
        onNotice: (notice) => notices.push(notice),
      });
      return { signature, notices };
    };
    for (const target of TARGETS) {
      assert.equal((await packIt(target)).signature, "verified");
    }
    const file = `${copy}/commands/cyberos-run.md`;
    await Deno.writeTextFile(file, "\nOne more line.\n", { append: true });
    for (const target of TARGETS) {
      const { signature, notices } = await packIt(target);
      assert.equal(signature, "unverified");
      assert.ok(
        notices.some((notice) =>
          notice.kind === "unverified" && /other content/.test(notice.reason)
        ),
      );
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
