/** Input that was cut anywhere, and what comes after the examination of it. */
import assert from "node:assert/strict";
import { examineBundle } from "../../packer/doctor/examine.ts";
import { verdictsOf } from "../../packer/doctor/report.ts";
import { shareSigningStack } from "../support/signing_stack/shared.ts";
import { makeArchive } from "./support/bundle.ts";

const shared = shareSigningStack();

Deno.test("DOC-09 a bundle cut off at every 256 bytes is refused with one finding", async () => {
  const stack = await shared.stack();
  const archive = await makeArchive(stack);
  const trustedRoots = [{ name: "test", json: stack.trustedRoot }];
  const file = await Deno.makeTempFile();
  try {
    for (let size = 0; size < archive.length; size += 256) {
      await Deno.writeFile(file, archive.subarray(0, size));
      const examination = await examineBundle(file, { trustedRoots });
      assert.equal(verdictsOf(examination).length, 1, `${size} bytes`);
    }
    await Deno.writeFile(file, archive);
    const whole = await examineBundle(file, { trustedRoots });
    assert.deepEqual(verdictsOf(whole), []);
  } finally {
    await Deno.remove(file);
  }
});
