import assert from "node:assert/strict";
import {
  buildStatement,
  contentDigest,
  findManifestPath,
  manifestBytes,
  manifestDigest,
} from "./content.ts";
import { sha256Hex } from "./digest.ts";
import { memoryEntry } from "./entry.ts";

const manifest = {
  version: "1.0.0",
  id: "demo",
  signature: { rekor_uuid: "a", sigstore_bundle: "b" },
};

async function entries() {
  return [
    await memoryEntry("plugin.json", manifestBytes(manifest)),
    await memoryEntry("server/x", "#!", 0o755),
    await memoryEntry("commands/a.md", "hello\n"),
  ];
}

Deno.test("contentDigest() is the digest of the documented lines", async () => {
  const lines =
    "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03 100644 6 commands/a.md\n" +
    `${await sha256Hex(new TextEncoder().encode("#!"))} 100755 2 server/x\n`;
  assert.equal(
    await contentDigest(await entries(), "plugin.json"),
    await sha256Hex(new TextEncoder().encode(lines)),
  );
});

Deno.test("manifestDigest() leaves the signature out and nothing else", async () => {
  const { signature: _, ...unsigned } = manifest;
  assert.equal(await manifestDigest(manifest), await manifestDigest(unsigned));
  assert.equal(
    await manifestDigest(manifest),
    await sha256Hex(
      new TextEncoder().encode('{"id":"demo","version":"1.0.0"}'),
    ),
  );
  assert.notEqual(
    await manifestDigest(manifest),
    await manifestDigest({ ...manifest, version: "1.0.1" }),
  );
});

Deno.test("buildStatement() is RFC 8785 JSON of an in-toto statement", async () => {
  const content = {
    target: "cursor",
    manifest,
    entries: await entries(),
    manifestPath: "plugin.json",
  } as const;
  const text = new TextDecoder().decode(await buildStatement(content));
  const digest = await contentDigest(content.entries, "plugin.json");
  assert.equal(
    text,
    `{"_type":"https://in-toto.io/Statement/v1","predicate":{"contents_sha256":"${digest}","file_count":2,"manifest_sha256":"${await manifestDigest(
      manifest,
    )}","name":"demo","target":"cursor","version":"1.0.0"},"predicateType":"https://cyberskill.world/attestation/plugin-content/v1","subject":[{"digest":{"sha256":"${digest}"},"name":"demo"}]}`,
  );
});

Deno.test("findManifestPath() prefers the nested place", () => {
  assert.equal(findManifestPath(["a", "plugin.json"]), "plugin.json");
  assert.equal(
    findManifestPath(["plugin.json", "cyberos/plugin.json"]),
    "cyberos/plugin.json",
  );
  assert.equal(findManifestPath(["x/plugin.json"]), undefined);
});
