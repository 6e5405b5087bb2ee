import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readCheckpoint, rekorUuid } from "./rekor_uuid.ts";
import testBundle from "./known_good_bundle.json" with { type: "json" };

const [logged] = testBundle.verificationMaterial.tlogEntries;
if (logged === undefined) throw new TypeError("No log entry");
const canonicalizedBody = Buffer.from(logged.canonicalizedBody, "base64");
const { envelope } = logged.inclusionProof.checkpoint;

function uuidWith(origin: string): string | undefined {
  const checkpointEnvelope = envelope.replace(/^.*\n/, `${origin}\n`);
  return rekorUuid({ canonicalizedBody, checkpointEnvelope });
}

Deno.test("rekorUuid() computes the UUID of a real entry of the public log", () => {
  assert.equal(
    rekorUuid({ canonicalizedBody, checkpointEnvelope: envelope }),
    "24296fb24b8ad77a89c3d014e9f182928f36e0cfa4ea087b56e578e1370c295d48b6d633985976c2",
  );
});

Deno.test("rekorUuid() pads small tree ids and knows the largest", () => {
  assert.equal(uuidWith("log - 1")?.slice(0, 16), "0000000000000001");
  assert.equal(
    uuidWith("log - 18446744073709551615")?.slice(0, 16),
    "ffffffffffffffff",
  );
});

Deno.test("rekorUuid() gives none for checkpoints without a Rekor v1 tree", () => {
  for (
    const origin of [
      "log2025-1.rekor.sigstore.dev",
      "log - 0",
      "log - 01",
      "log - -1",
      "log - 1x",
      "log -1",
      "two words - 1",
      "log - 18446744073709551616",
      "log - 99999999999999999999",
    ]
  ) assert.equal(uuidWith(origin), undefined, origin);
});

Deno.test("readCheckpoint() reads the signed part", () => {
  const { origin, treeSize, rootHash } = readCheckpoint(envelope) ?? {};
  assert.equal(origin, "rekor.sigstore.dev - 2605736670972794746");
  assert.equal(treeSize, "23082684");
  assert.equal(rootHash?.toString("base64"), logged.inclusionProof.rootHash);
  assert.equal(readCheckpoint("one line"), undefined);
});
