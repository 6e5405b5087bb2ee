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
    for (const [title, check] of Object.entries(PLUGIN_CHECKS)) {
      await t.step(title, () => check(`${built.dir}/cyberos-plugin`));
    }
    for (const [title, check] of Object.entries(BRIDGE_CHECKS)) {
      await t.step(title, () => check(`${built.dir}/cyberos-mcp-bridge`));
    }
  },
);
