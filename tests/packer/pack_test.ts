/** Packing by the library's door. */
import assert from "node:assert/strict";
import {
  DeferredTargetError,
  InvalidManifestError,
  pack,
  PackerError,
  type PackNotice,
  TARGETS,
  UnknownTargetError,
  UnsignedManifestError,
} from "../../mod.ts";
import { sha256Hex } from "../../packer/digest.ts";
import { readZip } from "../../packer/zip/reader.ts";
import { bytesSource } from "../../packer/zip/source.ts";
import { listArchive, readArchive } from "./support/archive.ts";
import { diskPlugin, namesIn, PLACEHOLDER } from "./support/disk_plugin.ts";
import { havePython, python, REWRITE } from "./support/python.ts";

const hasCode = (code: string) => (error: unknown) =>
  error instanceof PackerError && error.code === code;

const BAD_SIGNATURES: readonly (readonly [string, unknown])[] = [
  ["no signature", undefined],
  ["null", null],
  ["an empty one", {}],
  ["empty texts", { sigstore_bundle: "", rekor_uuid: "" }],
  ["blank texts", { sigstore_bundle: " ", rekor_uuid: "\n" }],
  ["half of one", { rekor_uuid: PLACEHOLDER.rekor_uuid }],
  ["the other half", { sigstore_bundle: "e30=" }],
  ["a text", "signed"],
];

for (const [what, signature] of BAD_SIGNATURES) {
  Deno.test(`P1-AC14 pack() refuses a manifest with ${what} and writes nothing`, async () => {
    await using plugin = await diskPlugin({
      manifest: { signature: signature as never },
    });
    await assert.rejects(
      pack(plugin.manifest, { outDir: plugin.out }),
      UnsignedManifestError,
    );
    assert.deepEqual(await namesIn(plugin.out), []);
  });
}

const NO_JSON: readonly (readonly [string, (signature: string) => string])[] = [
  ["twice", (text) => `${text}, "signature": ${text}`],
  ["with a member twice", (text) => text.replace("{", '{"rekor_uuid":"1",')],
  ["with a comment", (text) => text.replace("{", "{/* mine */")],
  ["with half a character", (text) => text.replace("<", "\\ud800")],
  ["with another member", (text) => text.replace("{", '{"key_id":"1",')],
  [
    "deeper than any reader goes",
    (text) => text.replace("{", `{"x":${"[".repeat(100)}${"]".repeat(100)},`),
  ],
];

for (const [what, spoil] of NO_JSON) {
  Deno.test(`pack() refuses a manifest that validate refuses for its signature, ${what}`, async () => {
    await using plugin = await diskPlugin();
    const rest = { ...JSON.parse(await Deno.readTextFile(plugin.manifest)) };
    delete rest.signature;
    const head = JSON.stringify(rest).slice(0, -1);
    const writeWith = (signature: string) =>
      Deno.writeTextFile(plugin.manifest, `${head},"signature":${signature}}`);
    const options = { outDir: plugin.out, failOnUnsigned: false };
    await writeWith(spoil(JSON.stringify(PLACEHOLDER)));
    await assert.rejects(pack(plugin.manifest, options), InvalidManifestError);
    assert.deepEqual(await namesIn(plugin.out), []);
    await writeWith(JSON.stringify(PLACEHOLDER));
    await pack(plugin.manifest, options);
  });
}

Deno.test("P1-AC14 pack() writes only *.unsigned.zip where it is let off", async () => {
  await using plugin = await diskPlugin({ manifest: { signature: {} } });
  const { bundle_path, signature } = await pack(plugin.manifest, {
    outDir: plugin.out,
    failOnUnsigned: false,
  });
  assert.equal(signature, "unsigned");
  assert.equal(bundle_path, `${plugin.out}/acme-trail-1.2.3.unsigned.zip`);
  assert.deepEqual(await namesIn(plugin.out), [
    "acme-trail-1.2.3.unsigned.zip",
  ]);
  const manifest = (await readArchive(bundle_path)).get("plugin.json") ?? "";
  assert.equal("signature" in JSON.parse(manifest), false);
});

Deno.test("P1-AC15 pack() gives one SHA-256, wherever the source and the output lie", async () => {
  await using one = await diskPlugin();
  await using two = await diskPlugin();
  await Deno.chmod(`${two.folder}/commands/acme-audit.md`, 0o777);
  await Deno.chmod(`${two.folder}/assets/note.txt`, 0o600);
  await Deno.utime(`${two.folder}/assets/note.txt`, 1, 2e9);
  const first = await pack(one.manifest, { outDir: one.out });
  const again = await pack(one.manifest, { outDir: `${one.out}/deep/er` });
  const other = await pack(two.manifest, { outDir: two.out });
  assert.equal(again.sha256, first.sha256);
  assert.equal(other.sha256, first.sha256);
  const bytes = await Deno.readFile(first.bundle_path);
  assert.deepEqual(await Deno.readFile(other.bundle_path), bytes);
  assert.equal(await sha256Hex(bytes), first.sha256);
  assert.equal(bytes.length, first.size_bytes);
});

Deno.test("P1-AC15 pack() gives other bytes for another source", async () => {
  await using plugin = await diskPlugin();
  const first = await pack(plugin.manifest, { outDir: plugin.out });
  await plugin.write("assets/note.txt", "Something else.\n");
  const second = await pack(plugin.manifest, { outDir: plugin.out });
  assert.notEqual(second.sha256, first.sha256);
});

Deno.test("P1-AC16 P1-AC17 P1-AC18 pack() writes sorted files of 1980-01-01 with mode 0644", async () => {
  await using plugin = await diskPlugin();
  for (const target of TARGETS) {
    const { bundle_path } = await pack(plugin.manifest, {
      target,
      outDir: plugin.out,
      failOnUnsigned: false,
    });
    const bytes = await Deno.readFile(bundle_path);
    const listed = listArchive(bytes);
    for (const { path, mode, dos } of listed) {
      assert.equal(dos, 0x00210000, path);
      assert.equal(mode, 0o100644, path);
    }
    const paths = listed.map(({ path }) => path);
    assert.deepEqual(paths, paths.toSorted());
    assert.ok(paths.length > 4);
    assert.deepEqual((await readZip(bytesSource(bytes))).findings, []);
  }
});

Deno.test({
  name: "pack() writes what Python's zipfile writes at level 6",
  ignore: !havePython,
  fn: async () => {
    await using plugin = await diskPlugin();
    const { bundle_path, sha256 } = await pack(plugin.manifest, {
      outDir: plugin.out,
    });
    assert.equal(await python(REWRITE, bundle_path), sha256);
  },
});

Deno.test("P1-AC19 pack() refuses an unknown target and says which there are", async () => {
  for (
    const target of ["bogus", "", "Claude-Code", "claude-code ", "toString"]
  ) {
    await assert.rejects(
      pack("nowhere.json", { target }),
      (error) =>
        error instanceof UnknownTargetError &&
        error.hint?.includes("claude-code, cowork, cursor, codex-cli") === true,
    );
  }
});

Deno.test("pack() defers the targets that are only planned", async () => {
  for (const target of ["goose", "amp", "continue-dev"]) {
    await assert.rejects(pack("nowhere.json", { target }), DeferredTargetError);
  }
});

Deno.test("pack() refuses a target that the manifest does not name", async () => {
  await using plugin = await diskPlugin({
    manifest: { targets: ["claude-code", "goose"] },
  });
  const options = { target: "cursor", outDir: plugin.out };
  await assert.rejects(
    pack(plugin.manifest, options),
    hasCode("TARGET_NOT_DECLARED"),
  );
  await pack(plugin.manifest, { outDir: plugin.out });
});

Deno.test("pack() gives a result of the specification's shape", async () => {
  await using plugin = await diskPlugin();
  const result = await pack(plugin.manifest, { outDir: plugin.out });
  assert.deepEqual({ ...result, sha256: "", size_bytes: 0 }, {
    bundle_path: `${plugin.out}/acme-trail-1.2.3.plugin`,
    sha256: "",
    size_bytes: 0,
    tools_count: 1,
    commands_count: 1,
    skills_count: 1,
    target: "claude-code",
    signature: "unverified",
  });
  assert.match(result.sha256, /^[0-9a-f]{64}$/);
});

Deno.test("pack() refuses a manifest that breaks its contract, with every finding", async () => {
  await using plugin = await diskPlugin({
    manifest: { version: "1.0", capabilities: { write_memory: true } },
  });
  await assert.rejects(
    pack(plugin.manifest, { outDir: plugin.out }),
    (error) => {
      assert.ok(error instanceof InvalidManifestError);
      const pointers = error.findings.map(({ json_pointer }) => json_pointer);
      assert.ok(pointers.includes("/version"), String(pointers));
      assert.ok(pointers.length > 1);
      return true;
    },
  );
  assert.deepEqual(await namesIn(plugin.out), []);
});

Deno.test("pack() refuses what is no manifest", async () => {
  await using plugin = await diskPlugin();
  const { folder } = plugin;
  await assert.rejects(
    pack(`${folder}/none.json`),
    hasCode("MANIFEST_UNREADABLE"),
  );
  await assert.rejects(pack(folder), hasCode("MANIFEST_UNREADABLE"));
  for (
    const text of ["", "not json", "[]", "null", '{"id":1,"id":2}', "\ufeff{}"]
  ) {
    await Deno.writeTextFile(`${folder}/bad.json`, text);
    await assert.rejects(
      pack(`${folder}/bad.json`),
      hasCode("MANIFEST_INVALID"),
      text,
    );
  }
});

Deno.test("pack() packs with a placeholder for a signature, and says so", async () => {
  await using plugin = await diskPlugin();
  const notices: PackNotice[] = [];
  const result = await pack(plugin.manifest, {
    outDir: plugin.out,
    onNotice: (notice) => notices.push(notice),
  });
  assert.equal(result.signature, "unverified");
  assert.ok(notices.some(({ kind }) => kind === "unverified"));
});

Deno.test("pack() with verify refuses a signature that proves nothing, and writes nothing", async () => {
  await using plugin = await diskPlugin();
  const options = { outDir: plugin.out, verify: true };
  await assert.rejects(
    pack(plugin.manifest, options),
    hasCode("SIGNATURE_INVALID"),
  );
  assert.deepEqual(await namesIn(plugin.out), []);
  const { signature } = await pack(plugin.manifest, {
    ...options,
    checkSignature: () => Promise.resolve({ valid: true }),
  });
  assert.equal(signature, "verified");
});

Deno.test("pack() takes another target's signature from the file beside the manifest", async () => {
  await using plugin = await diskPlugin();
  const options = { target: "cursor", outDir: plugin.out };
  // The manifest's own signature is for another tree.
  await assert.rejects(pack(plugin.manifest, options), UnsignedManifestError);
  const signature = { sigstore_bundle: "e30=", rekor_uuid: "1".repeat(80) };
  await plugin.write(
    "acme-trail@1.2.3.cursor.signature.json",
    JSON.stringify({ ...signature, note: "is left behind" }),
  );
  const { bundle_path } = await pack(plugin.manifest, options);
  const files = await readArchive(bundle_path);
  const manifest = JSON.parse(files.get("cyberos/plugin.json") ?? "");
  assert.deepEqual(manifest.signature, signature);
});

Deno.test("pack() takes a signature from the file that it is given", async () => {
  await using plugin = await diskPlugin({ manifest: { signature: {} } });
  await plugin.write("mine.json", JSON.stringify(PLACEHOLDER));
  const given = (name: string) =>
    pack(plugin.manifest, {
      outDir: plugin.out,
      signatureFile: `${plugin.folder}/${name}`,
    });
  assert.equal((await given("mine.json")).signature, "unverified");
  await plugin.write("half.json", '{"rekor_uuid":"1"}');
  await assert.rejects(given("half.json"), /no signature in ".*half\.json"/);
  await assert.rejects(given("half.json"), UnsignedManifestError);
  const noText = '{"rekor_uuid":"1","sigstore_bundle":"\\ud800"}';
  await plugin.write("no_text.json", noText);
  await assert.rejects(given("no_text.json"), UnsignedManifestError);
  await plugin.write("broken.json", "{");
  await assert.rejects(given("broken.json"), hasCode("SIGNATURE_INVALID"));
  await assert.rejects(given("none.json"), hasCode("SIGNATURE_INVALID"));
});

Deno.test("pack() writes the manifest in its canonical form, whatever its text was", async () => {
  await using plugin = await diskPlugin();
  const first = await pack(plugin.manifest, { outDir: plugin.out });
  const text = await Deno.readTextFile(plugin.manifest);
  const value = JSON.parse(text);
  const reversed = Object.fromEntries(Object.entries(value).toReversed());
  await Deno.writeTextFile(plugin.manifest, JSON.stringify(reversed));
  const second = await pack(plugin.manifest, { outDir: plugin.out });
  assert.equal(second.sha256, first.sha256);
  const files = await readArchive(first.bundle_path);
  assert.deepEqual(JSON.parse(files.get("plugin.json") ?? ""), value);
  assert.match(files.get("plugin.json") ?? "", /^\{"audit":\{"endpoint":/);
});

Deno.test("pack() with reproducible off stamps the entries with the time", async () => {
  await using plugin = await diskPlugin();
  const { bundle_path } = await pack(plugin.manifest, {
    outDir: plugin.out,
    reproducible: false,
  });
  const [entry] = listArchive(await Deno.readFile(bundle_path));
  const year = ((entry?.dos ?? 0) >>> 25) + 1980;
  assert.ok(year >= new Date().getUTCFullYear() - 1);
});

Deno.test("pack() tells how far it is", async () => {
  await using plugin = await diskPlugin();
  const seen: string[] = [];
  await pack(plugin.manifest, {
    outDir: plugin.out,
    onProgress: ({ phase, files, totalFiles, bytes, totalBytes }) => {
      seen.push(phase);
      assert.ok(files > 0 && bytes >= 0);
      if (phase === "packing") {
        assert.ok(files <= (totalFiles ?? 0) && bytes <= (totalBytes ?? 0));
      }
    },
  });
  assert.equal(seen.indexOf("packing"), 4);
  assert.equal(seen.lastIndexOf("reading"), 3);
});
