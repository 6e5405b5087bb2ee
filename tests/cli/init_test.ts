/** `cyberos-plugin init` and `schema`. */
import assert from "node:assert/strict";
import { Validator } from "@cfworker/json-schema";
import manifestSchema from "../../schema/manifest.schema.json" with {
  type: "json",
};
import { errorsOf } from "../schema/support.ts";
import { cli } from "./terminal.ts";

async function inFolder(
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("init --yes writes a valid manifest and asks nothing", async () => {
  await inFolder(async (folder) => {
    const out = `${folder}/my.plugin.json`;
    const run = await cli(["init", "--yes", "--out", out], { typed: ["no"] });
    assert.equal(run.code, 0);
    assert.equal(run.stdout, "");
    assert.match(run.stderr, /^Wrote .*my\.plugin\.json\nNext: /);
    assert.deepEqual(await errorsOf(await Deno.readFile(out)), []);
    assert.equal((await cli(["validate", out])).code, 0);
  });
});

Deno.test("init takes every answer from its options", async () => {
  const description = "D".repeat(60);
  const run = await cli([
    "init",
    "--id=acme-crm",
    "--name=Acme",
    `--description=${description}`,
    "--author=Jane",
    "--license=MIT",
    "--target=cursor",
    "--target=cowork",
    "--out=-",
  ]);
  assert.equal(run.code, 0);
  const manifest = JSON.parse(run.stdout);
  assert.equal(manifest.id, "acme-crm");
  assert.equal(manifest.description, description);
  assert.deepEqual(manifest.authors, [{ name: "Jane" }]);
  assert.deepEqual(manifest.targets, ["cursor", "cowork"]);
  assert.deepEqual(await errorsOf(run.stdout), []);
});

Deno.test("init asks a person for what is open", async () => {
  const run = await cli(["init", "--license=MIT", "--out=-"], {
    typed: ["acme-crm", "", "", "Jane"],
  });
  assert.equal(run.code, 0);
  assert.match(run.stderr, /Plugin id \(my-plugin\): Name \(Acme Crm\): /);
  assert.doesNotMatch(run.stderr, /licence/);
  const manifest = JSON.parse(run.stdout);
  assert.deepEqual(
    [manifest.id, manifest.name, manifest.authors[0].name, manifest.license],
    ["acme-crm", "Acme Crm", "Jane", "MIT"],
  );
});

Deno.test("init refuses answers that make no valid manifest", async () => {
  await inFolder(async (folder) => {
    const out = `${folder}/x.plugin.json`;
    const run = await cli([
      "init",
      "--id=Not_An_Id",
      "--target=emacs",
      `--out=${out}`,
    ]);
    assert.equal(run.code, 1);
    assert.match(run.stderr, /error \/id \(pattern\)/);
    assert.match(run.stderr, /error \/targets\/0 \(enum\)/);
    await assert.rejects(Deno.stat(out), Deno.errors.NotFound);
  });
});

Deno.test("init replaces a file only with --force", async () => {
  await inFolder(async (folder) => {
    const out = `${folder}/x.plugin.json`;
    await Deno.writeTextFile(out, "mine");
    const refused = await cli(["init", "--yes", `--out=${out}`]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /the file exists\n.*--force/);
    assert.equal(await Deno.readTextFile(out), "mine");
    assert.equal(
      (await cli(["init", "--yes", "--force", `--out=${out}`])).code,
      0,
    );
    const nowhere = await cli(["init", "--yes", `--out=${folder}/a/b.json`]);
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.stderr, /Cannot write ".*": it does not exist/);
  });
});

Deno.test("init exits 2 for wrong usage", async () => {
  for (const args of [[], ["x"], ["--nope"], ["--name=A"]]) {
    assert.equal((await cli(["init", ...args])).code, 2, args.join(" "));
  }
});

Deno.test("schema prints the contract", async () => {
  const run = await cli(["schema"]);
  assert.equal(run.code, 0);
  assert.equal(run.stderr, "");
  const schema = JSON.parse(run.stdout);
  assert.deepEqual(schema, manifestSchema);
  assert.equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  const starter = await cli(["init", "--yes", "--out=-"]);
  const verdict = new Validator(JSON.parse(run.stdout), "2020-12").validate(
    JSON.parse(starter.stdout),
  );
  assert.ok(verdict.valid);
  assert.equal((await cli(["schema", "x"])).code, 2);
});

Deno.test("every property of the schema is described for editors", () => {
  const walk = (value: unknown, at: string): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, part] of Object.entries(value)) {
      if (key === "properties") {
        for (const [name, property] of Object.entries(part)) {
          const { description } = property as { description?: string };
          assert.ok((description ?? "").length > 10, `${at}/${name}`);
        }
      }
      walk(part, `${at}/${key}`);
    }
  };
  walk(manifestSchema, "");
});
