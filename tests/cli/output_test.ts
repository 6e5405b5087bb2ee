/** What becomes of `cyberos-plugin` when nobody takes its output. */
import assert from "node:assert/strict";
import { manifestPath } from "./terminal.ts";
import { PROGRAM } from "../packer/support/program.ts";

const posix = Deno.build.os !== "windows";
const valid = manifestPath("valid_minimal_plugin.json");
const invalid = manifestPath("invalid_missing_signature.json");

/** Runs the program as a shell with these redirections does. */
async function runIn(script: string, args: readonly string[]) {
  const { code, stderr } = await new Deno.Command("bash", {
    args: ["-c", script, "bash", Deno.execPath(), ...PROGRAM, ...args],
    stdin: "null",
  }).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

// The reader is gone before the program starts.
const READER_GONE = 'set -o pipefail; { sleep 0.2; "$@"; } | true';

for (
  const [title, args, code] of [
    ["help", ["--help"], 0],
    ["schema", ["schema"], 0],
    ["validate, valid", ["validate", "--json", valid], 0],
    ["validate, invalid", ["validate", "--json", invalid], 1],
    ["doctor", ["doctor", valid], 1],
  ] as const
) {
  Deno.test({
    name:
      `${title}: a reader that went away changes no exit code and is no bug`,
    ignore: !posix,
    async fn() {
      const run = await runIn(READER_GONE, args);
      assert.deepEqual(run, { code, stderr: "" });
    },
  });
}

Deno.test({
  name: "a closed standard error changes no exit code",
  ignore: !posix,
  async fn() {
    const script = READER_GONE.replace('"$@"', '"$@" 2>&1');
    assert.equal((await runIn(script, ["bogus"])).code, 2);
    assert.equal((await runIn(script, ["validate", invalid])).code, 1);
    assert.equal((await runIn(script, ["validate", valid])).code, 0);
  },
});

Deno.test({
  name: "output that the system does not take is refused by name, as no bug",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const full = '"$@" > /dev/full';
    const schema = await runIn(full, ["schema"]);
    assert.equal(schema.code, 1);
    assert.match(schema.stderr, /Cannot write to standard output: .*ENOSPC/);
    assert.doesNotMatch(schema.stderr, /bug/);
    assert.equal((await runIn(full, ["--help"])).code, 1);
    const doctor = await runIn(full, ["doctor", valid, "--json"]);
    assert.equal(doctor.code, 3, "nobody was told a verdict");
    assert.equal((await runIn('"$@" > /dev/null', ["schema"])).code, 0);
  },
});
