import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The program from source with its task's flags, with a module loaded before it. */
async function cli(args: readonly string[], preload: string) {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const words = (tasks.plugin.command as string).split(" ");
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [...words.slice(1, -1), "--preload", preload, "cli.ts", ...args],
    cwd: ROOT,
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test("cyberos-plugin gives the network back, except to sign and to ask the log", async () => {
  const dir = await Deno.makeTempDir();
  const preload = `${dir}/preload.ts`;
  await Deno.writeTextFile(
    preload,
    `const exit = Deno.exit;
     Deno.exit = (code) => {
       Deno.stdout.writeSync(new TextEncoder().encode(
         "net " + Deno.permissions.querySync({ name: "net" }).state + "\\n"));
       return exit(code);
     };`,
  );
  try {
    for (const command of ["validate", "pack", "doctor", "init", "schema"]) {
      assert.match(await cli([command, "--help"], preload), /^net prompt$/m);
    }
    for (const args of [["sign"], ["doctor", "--online"]]) {
      assert.match(await cli([...args, "--help"], preload), /^net granted$/m);
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
