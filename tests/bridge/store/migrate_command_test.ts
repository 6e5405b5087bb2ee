/** The `migrate` command, as an operator runs it. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { MIGRATIONS } from "../../../migrations/mod.ts";
import { postgresTest } from "../../support/postgres.ts";

const MAIN = fileURLToPath(new URL("../../../bridge/main.ts", import.meta.url));
const COUNT = MIGRATIONS.filter(({ scope }) => scope === "everywhere").length;

async function run(
  args: readonly string[],
  url?: string,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const output = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--unstable-worker-options",
      MAIN,
      "migrate",
      ...args,
    ],
    env: url === undefined ? {} : { CYBEROS_OWNER_DATABASE_URL: url },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return {
    code: output.code,
    stdout: text(output.stdout),
    stderr: text(output.stderr),
  };
}

postgresTest(
  "migrate: a dry run, the run, and nothing more to do",
  async (database) => {
    const url = database.ownerUrl;
    const dry = await run(["--dry-run"], url);
    assert.equal(dry.code, 0, dry.stderr);
    assert.match(
      dry.stderr,
      /Would apply:\n {2}0001 tasks[\s\S]*Nothing was changed/,
    );
    const real = await run(["--json"], url);
    assert.equal(real.code, 0, real.stderr);
    const report = JSON.parse(real.stdout);
    assert.equal(report.applied.length, COUNT);
    assert.equal(report.dry_run, false);
    const again = await run([], url);
    assert.equal(again.code, 0);
    assert.match(again.stderr, /up to date/);
    assert.equal(again.stdout, "");
  },
  { empty: true },
);

postgresTest(
  "migrate: refusals say what to do, and show no password",
  async (database) => {
    const none = await run([]);
    assert.equal(none.code, 2);
    assert.match(none.stderr, /CYBEROS_OWNER_DATABASE_URL/);
    await database.admin(
      `insert into plugin_host.migrations (version, name, checksum) values (9999, 'x', repeat('0', 64))`,
    );
    const newer = await run([], database.ownerUrl);
    assert.equal(newer.code, 1);
    assert.match(newer.stderr, /9999[\s\S]*a later one/);
    const away = await run([], "postgres://ann:hunter2@127.0.0.1:1/x");
    assert.equal(away.code, 1);
    assert.doesNotMatch(away.stderr + away.stdout, /hunter2/);
  },
);
