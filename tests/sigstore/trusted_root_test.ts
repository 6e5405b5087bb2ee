/** The roots that come with the program, and what a root must look like. */
import assert from "node:assert/strict";
import { PackerError } from "../../packer/errors.ts";
import { loadSigstore } from "../../packer/sigstore/library.ts";
import { parseTrustedRoot } from "../../packer/sigstore/trusted_root.ts";
import { builtInRoots } from "../../packer/trust/roots.ts";
import { sha256Hex } from "../../packer/digest.ts";

const TRUST = new URL("../../packer/trust/", import.meta.url);

Deno.test("DOC-08 the public-good root is the one that is pinned", async () => {
  const bytes = await Deno.readFile(new URL("public_good_root.json", TRUST));
  assert.equal(
    await sha256Hex(bytes),
    "6494e21ea73fa7ee769f85f57d5a3e6a08725eae1e38c755fc3517c9e6bc0b66",
  );
});

Deno.test("the public-good root is the one that @sigstore/tuf ships", async () => {
  const { default: seeds } = await import("@sigstore/tuf/seeds.json", {
    with: { type: "json" },
  });
  const [seed] = Object.values(seeds);
  const target = seed?.targets["trusted_root.json"] ?? "";
  const bytes = Uint8Array.fromBase64(target);
  const ours = await Deno.readFile(new URL("public_good_root.json", TRUST));
  assert.deepEqual(ours, bytes);
});

Deno.test("all built-in roots can be read", async () => {
  const sigstore = await loadSigstore();
  for (const root of builtInRoots()) parseTrustedRoot(sigstore, root);
});

Deno.test("parseTrustedRoot() refuses a root that leaves a start out, and names it", async () => {
  const sigstore = await loadSigstore();
  const places: [string, (root: LooseRoot) => void][] = [
    ["tlogs[0]", (root) => delete root.tlogs[0].publicKey.validFor.start],
    ["tlogs[0]", (root) => delete root.tlogs[0].publicKey.validFor],
    ["ctlogs[1]", (root) => delete root.ctlogs[1].publicKey.validFor.start],
    [
      "certificateAuthorities[0]",
      (root) => delete root.certificateAuthorities[0].validFor,
    ],
    [
      "timestampAuthorities[0]",
      (root) => root.timestampAuthorities[0].validFor.start = "soon",
    ],
    ["tlogs", (root) => root.tlogs = []],
    ["mediaType", (root) => root.mediaType = "application/json"],
    ["mediaType", (root) => delete root.mediaType],
    ["key", (root) => root.tlogs[0].publicKey.rawBytes = "AAAA"],
  ];
  for (const [place, damage] of places) {
    const root = publicGood();
    damage(root);
    assert.throws(
      () => parseTrustedRoot(sigstore, { name: "r", json: root }),
      (error) =>
        error instanceof PackerError && error.code === "TRUST_ROOT_INVALID" &&
        error.message.includes(place),
      place,
    );
  }
  for (const json of [null, 7, [], "text", {}]) {
    assert.throws(() => parseTrustedRoot(sigstore, { name: "r", json }));
  }
  parseTrustedRoot(sigstore, { name: "r", json: publicGood() });
});

// deno-lint-ignore no-explicit-any -- tests reach into any corner of it
type LooseRoot = any;

function publicGood(): LooseRoot {
  return JSON.parse(
    Deno.readTextFileSync(new URL("public_good_root.json", TRUST)),
  );
}

Deno.test("there is one @sigstore/core in the graph: the repair reaches all of it", async () => {
  const lock = JSON.parse(
    await Deno.readTextFile(new URL("../../deno.lock", import.meta.url)),
  );
  const cores = Object.keys(lock.npm).filter((name) =>
    name.startsWith("@sigstore/core@")
  );
  assert.deepEqual(cores, ["@sigstore/core@4.0.1"]);
});
