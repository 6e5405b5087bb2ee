import assert from "node:assert/strict";
import { memoryEntry } from "../../packer/entry.ts";
import { writeZip } from "../../packer/zip/writer.ts";
import { havePython, python, REWRITE } from "./support/python.ts";

Deno.test({
  name: "writeZip() writes to the byte what Python's zipfile writes at level 6",
  ignore: !havePython,
  fn: async () => {
    const path = await Deno.makeTempFile({ suffix: ".zip" });
    try {
      using file = await Deno.open(path, { write: true });
      const text = Array.from(
        { length: 20_000 },
        (_, i) => `line ${i} ${(i * 7919) % 1013}\n`,
      ).join("");
      const written = await writeZip([
        await memoryEntry("empty", ""),
        await memoryEntry("skills/text.md", text),
        await memoryEntry("skills/ünï.md", text.slice(0, 999)),
        await memoryEntry("server/bridge", "program", 0o755),
        await memoryEntry(
          "noise",
          Uint8Array.from({ length: 70_000 }, (_, i) => (i * i) >> 3),
        ),
      ], {
        write: async (bytes) => {
          await file.write(bytes);
        },
      });
      assert.equal(await python(REWRITE, path), written.sha256);
    } finally {
      await Deno.remove(path);
    }
  },
});
