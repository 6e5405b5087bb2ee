/** What a hostile bundle can make the examination cost. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { crc32, deflateRawSync } from "node:zlib";
import { rawZip } from "../packer/support/raw_zip.ts";
import { shareSigningStack } from "../support/signing_stack/shared.ts";
import { makeArchive } from "./support/bundle.ts";

const shared = shareSigningStack();
const MIB = 1024 * 1024;
const MEASURE = fileURLToPath(new URL("support/measure.ts", import.meta.url));

/** An archive of zeros that declares what it holds, within the limits. */
function honestZeros(megabytes: number): Uint8Array<ArrayBuffer> {
  const zeros = new Uint8Array(megabytes * MIB);
  const fields = { size: zeros.length, crc: crc32(zeros) };
  const data = deflateRawSync(zeros, { level: 9 });
  return rawZip([
    { name: "assets/zeros.txt", data, local: fields, central: fields },
    { name: "plugin.json", content: "{}" },
  ]);
}

/** A bomb: 64 entries that share what one of them needs. */
function bomb(): Uint8Array<ArrayBuffer> {
  const size = 64 * MIB;
  const data = deflateRawSync(new Uint8Array(size), { level: 9 });
  const fields = { size, crc: 0 };
  return rawZip(Array.from({ length: 64 }, (_, i) => ({
    name: `assets/${String(i).padStart(2, "0")}.txt`,
    data,
    local: fields,
    central: fields,
  })));
}

Deno.test({
  name: "DOC-02 bombs and giants are refused within 256 MiB of memory",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const good = await makeArchive(await shared.stack(), { forge: null });
      const files: [string, Uint8Array][] = [
        ["bomb", bomb()],
        ["giant", honestZeros(64)],
        ["good", good],
      ];
      for (const [name, bytes] of files) {
        await Deno.writeFile(`${folder}/${name}`, bytes);
      }
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--no-prompt",
          "--cached-only",
          // Deno gives /proc to none but those who may do everything.
          "--allow-all",
          MEASURE,
          ...files.map(([name]) => `${folder}/${name}`),
        ],
      }).output();
      const text = new TextDecoder().decode(stdout);
      assert.notEqual(text, "", new TextDecoder().decode(stderr));
      const { verdicts, peakBytes } = JSON.parse(text);
      assert.deepEqual(verdicts[0], ["LIMIT_UNPACKED"]);
      assert.ok(verdicts[1].includes("TEXT_HIDDEN"), String(verdicts[1]));
      assert.deepEqual(verdicts[2], ["UNSIGNED"]);
      assert.ok(peakBytes < 256 * MIB, `${Math.round(peakBytes / MIB)} MiB`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
