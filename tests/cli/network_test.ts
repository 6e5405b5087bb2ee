/** Who may reach the network: nobody who need not. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { manifestPath } from "./terminal.ts";

const CLI = fileURLToPath(new URL("../../cli.ts", import.meta.url));

/** Says at the end what is left of the right. */
const WITNESS = `const exit = Deno.exit;
Deno.exit = (code) => {
  const { state } = Deno.permissions.querySync({ name: "net" });
  Deno.stderr.writeSync(new TextEncoder().encode("net " + state + "\\n"));
  exit(code);
};
`;

async function netAfter(args: readonly string[]): Promise<string | undefined> {
  const witness = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(witness, WITNESS);
    const { stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-prompt",
        "--no-check",
        "--allow-read",
        "--allow-net",
        "--preload",
        witness,
        CLI,
        ...args,
      ],
      stdin: "null",
    }).output();
    return /^net (\w+)$/m.exec(new TextDecoder().decode(stderr))?.[1];
  } finally {
    await Deno.remove(witness);
  }
}

Deno.test("only sign and doctor --online keep the right to reach the network", async () => {
  const file = manifestPath("valid_minimal_plugin.json");
  const commands: readonly (readonly string[])[] = [
    ["validate", file],
    ["pack", file, "--out", "/nowhere"],
    ["doctor", file],
    ["rebuild", "--manifest", file, file],
    ["schema"],
    ["--help"],
  ];
  for (const args of commands) {
    assert.notEqual(await netAfter(args), "granted", args.join(" "));
    assert.notEqual(await netAfter(args), undefined, args.join(" "));
  }
  assert.equal(await netAfter(["sign", file]), "granted");
  assert.equal(await netAfter(["doctor", file, "--online"]), "granted");
});
