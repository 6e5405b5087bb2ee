import assert from "node:assert/strict";
import { compiled, NO_COMPILE_RUNTIME } from "./compiled.ts";
import { BRIDGE_CHECKS } from "./compiled_bridge.ts";
import { PLUGIN_CHECKS } from "./compiled_plugin.ts";

Deno.test(
  "the compiled programs do in an empty folder what they do from source",
  {
    ignore: NO_COMPILE_RUNTIME,
  },
  async (t) => {
    await using built = await compiled();
    await t.step("SHA256SUMS is of these files", async () => {
      const lines = (await Deno.readTextFile(`${built.dir}/SHA256SUMS`)).trim()
        .split("\n").map((line) => line.split("  "));
      assert.equal(lines.length, 3);
      for (const [sum, name] of lines) {
        const bytes = await Deno.readFile(`${built.dir}/${name}`);
        const digest = await crypto.subtle.digest("SHA-256", bytes);
        assert.equal(new Uint8Array(digest).toHex(), sum);
      }
    });
    for (const [title, check] of Object.entries(PLUGIN_CHECKS)) {
      await t.step(title, () => check(`${built.dir}/cyberos-plugin`));
    }
    for (const [title, check] of Object.entries(BRIDGE_CHECKS)) {
      await t.step(title, () => check(`${built.dir}/cyberos-mcp-bridge`));
    }
  },
);
