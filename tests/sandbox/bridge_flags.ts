/** The permission flags of the `bridge` task, as `deno.json` has them. */
const { tasks } = JSON.parse(
  await Deno.readTextFile(new URL("../../deno.json", import.meta.url)),
);

/** Without the program. */
export const BRIDGE_FLAGS: readonly string[] = (tasks.bridge.command as string)
  .replaceAll("'", "").split(/\s+/).slice(
    1,
    -1,
  );
