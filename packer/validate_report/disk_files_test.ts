import assert from "node:assert/strict";
import { filesOnDisk, readAtMost } from "./disk_files.ts";

Deno.test("readAtMost() stops one byte after the bound", async () => {
  const path = await Deno.makeTempFile();
  try {
    for (
      const [size, expected] of [[0, 0], [99, 99], [100, 100], [101, 101], [
        500_000,
        101,
      ]]
    ) {
      await Deno.writeFile(path, new Uint8Array(size as number).fill(7));
      const bytes = await readAtMost(path, 100);
      assert.equal(bytes.length, expected);
      assert.ok(bytes.every((byte) => byte === 7));
    }
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("readAtMost() reads what has no size in large steps", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const start = performance.now();
  assert.equal((await readAtMost("/dev/zero", 200_000)).length, 200_001);
  assert.ok(performance.now() - start < 1000);
});

Deno.test("filesOnDisk() spells names as the disk does, and sees links", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/Commands`);
    await Deno.writeTextFile(`${folder}/Commands/a.md`, "text");
    await Deno.symlink("a.md", `${folder}/Commands/b.md`);
    const files = filesOnDisk(folder);
    assert.deepEqual([...(await files.list("") ?? [])], [[
      "Commands",
      "directory",
    ]]);
    assert.deepEqual(
      new Map(await files.list("Commands")),
      new Map([["a.md", "file"], ["b.md", "link"]]),
    );
    assert.equal(await files.list("nowhere"), undefined);
    assert.equal(await files.list("Commands/a.md"), undefined);
    const bytes = await files.read("Commands/a.md", 10);
    assert.equal(new TextDecoder().decode(bytes), "text");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
