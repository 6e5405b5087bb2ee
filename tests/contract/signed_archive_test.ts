import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { pack } from "../../mod.ts";

const MANIFEST = fileURLToPath(
  new URL("../../manifests/cyberos@1.0.0.plugin.json", import.meta.url),
);

Deno.test("PACK-06 a signed bundle is a plain zip: nothing before its first entry or behind its end record", async () => {
  const outDir = await Deno.makeTempDir();
  try {
    const { bundle_path, signature } = await pack(MANIFEST, { outDir });
    assert.equal(signature, "verified", "the control: it is really signed");
    const bytes = await Deno.readFile(bundle_path);
    const view = new DataView(bytes.buffer);
    assert.equal(
      view.getUint32(0, true),
      0x04034b50,
      "starts with a local file header",
    );
    const end = bytes.length - 22;
    assert.equal(
      view.getUint32(end, true),
      0x06054b50,
      "ends with its end record",
    );
    assert.equal(view.getUint16(end + 20, true), 0, "which has no comment");
    const [size, offset] = [
      view.getUint32(end + 12, true),
      view.getUint32(end + 16, true),
    ];
    assert.equal(offset + size, end, "right behind the central directory");
  } finally {
    await Deno.remove(outDir, { recursive: true });
  }
});
