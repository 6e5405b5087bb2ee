/** Unpacked bundles are bounded as archives are. */
import assert from "node:assert/strict";
import { readFolder } from "../../packer/doctor/folder.ts";

const LIMITS = {
  archiveBytes: 1000,
  entries: 3,
  unpackedBytes: 100,
  entryBytes: 60,
};

async function codes(sizes: readonly number[]): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [i, size] of sizes.entries()) {
      await Deno.writeFile(`${folder}/${i}.txt`, new Uint8Array(size));
    }
    const { findings, entries } = await readFolder(folder, LIMITS);
    assert.equal(entries.length, findings.length > 0 ? 0 : sizes.length);
    return findings.map(({ code }) => code);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("LIMIT_UNPACKED LIMIT_ARCHIVE: a folder with too much in it is refused", async () => {
  assert.deepEqual(await codes([60, 40]), []);
  assert.deepEqual(await codes([61]), ["LIMIT_UNPACKED"]);
  assert.deepEqual(await codes([50, 51]), ["LIMIT_UNPACKED"]);
  assert.deepEqual(await codes([1, 1, 1]), []);
  assert.deepEqual(await codes([1, 1, 1, 1]), ["LIMIT_ARCHIVE"]);
});
