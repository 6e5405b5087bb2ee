import assert from "node:assert/strict";
import { loadConfig } from "../../bridge/config/load.ts";
import { prepare } from "../../bridge/sandbox/prepare.ts";
import { strayLink } from "../../bridge/sandbox/stray_link.ts";

async function folder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${path}/data/deep/er`, { recursive: true });
  await Deno.mkdir(`${path}/data-of-another`);
  await Deno.writeTextFile(`${path}/data/deep/file`, "x");
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

function embedded(dataDir: string) {
  const env = () => undefined;
  const loaded = loadConfig({
    args: ["--embedded", `--data-dir=${dataDir}`],
    env,
    readTextFile: () => "{}",
  });
  return prepare({ command: "serve", args: [], loaded, env });
}

Deno.test("strayLink() finds nothing in a folder without links, with links inside, or that is not there", async () => {
  await using dir = await folder();
  assert.equal(strayLink(`${dir.path}/data`), undefined);
  await Deno.symlink("file", `${dir.path}/data/deep/inside`);
  await Deno.symlink(`${dir.path}/data/deep`, `${dir.path}/data/deep/er/up`);
  assert.equal(strayLink(`${dir.path}/data`), undefined);
  assert.equal(strayLink(`${dir.path}/nowhere`), undefined);
});

Deno.test("strayLink() finds a link to a file, to a folder, to a neighbour with the same beginning, and to nothing", async () => {
  for (
    const target of ["/etc/hostname", "/", "../../data-of-another", "gone"]
  ) {
    await using dir = await folder();
    await Deno.symlink(target, `${dir.path}/data/deep/out`);
    assert.equal(strayLink(`${dir.path}/data`), "deep/out", target);
  }
});

Deno.test("prepare() withholds a data folder with a way out and says why, and grants a sound one", async () => {
  await using dir = await folder();
  const data = `${dir.path}/data`;
  const sound = embedded(data);
  assert.deepEqual(sound.message.problems, []);
  assert.ok(sound.permissions.write.includes(data));
  await Deno.symlink("/etc", `${data}/planted`);
  const planted = embedded(data);
  assert.match(planted.message.problems[0]?.message ?? "", /"planted"/);
  assert.deepEqual(planted.permissions.write, []);
  assert.ok(!planted.permissions.read.includes(data));
});
