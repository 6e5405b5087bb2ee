/** `cyberos-plugin pack` and `rebuild` as their users run them. */
import assert from "node:assert/strict";
import { pack } from "../../mod.ts";
import { memoryEntry } from "../../packer/entry.ts";
import { readZip } from "../../packer/zip/reader.ts";
import { bytesSource } from "../../packer/zip/source.ts";
import { writeZip } from "../../packer/zip/writer.ts";
import {
  type DiskPlugin,
  diskPlugin,
  namesIn,
} from "../packer/support/disk_plugin.ts";
import { PROGRAM, runProgram } from "../packer/support/program.ts";

const posix = Deno.build.os !== "windows";

Deno.test("P1-AC20 pack writes the bundle, says so on stderr, and exits 0", async () => {
  await using plugin = await diskPlugin();
  const { code, stdout, stderr } = await runProgram([
    "pack",
    plugin.manifest,
    "--out",
    plugin.out,
  ]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, "");
  assert.match(stderr, /Packed .*acme-trail-1\.2\.3\.plugin for Claude Code/);
  assert.match(stderr, /WARNING: the signature is not a valid one/);
  assert.deepEqual(await namesIn(plugin.out), ["acme-trail-1.2.3.plugin"]);
});

Deno.test("pack --json prints the result and nothing else on stdout", async () => {
  await using plugin = await diskPlugin();
  const { code, stdout } = await runProgram(
    ["pack", plugin.manifest, "--json"],
    { cwd: plugin.root },
  );
  assert.equal(code, 0);
  const result = JSON.parse(stdout);
  assert.deepEqual(Object.keys(result), [
    "bundle_path",
    "sha256",
    "size_bytes",
    "tools_count",
    "commands_count",
    "skills_count",
    "target",
    "signature",
  ]);
  assert.equal(result.bundle_path, "dist/acme-trail-1.2.3.plugin");
  await Deno.stat(`${plugin.root}/dist/acme-trail-1.2.3.plugin`);
});

Deno.test("P1-AC14 pack exits 1 on an unsigned manifest and writes nothing", async () => {
  await using plugin = await diskPlugin({ manifest: { signature: {} } });
  const args = ["pack", plugin.manifest, "--out", plugin.out];
  const refused = await runProgram(args);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /UnsignedManifestError: .*has no signature/);
  assert.match(refused.stderr, /cyberos-plugin sign/);
  assert.deepEqual(await namesIn(plugin.out), []);
  const allowed = await runProgram([...args, "--allow-unsigned"]);
  assert.equal(allowed.code, 0);
  assert.deepEqual(await namesIn(plugin.out), [
    "acme-trail-1.2.3.unsigned.zip",
  ]);
});

Deno.test("pack prints all findings of an invalid manifest and exits 1", async () => {
  await using plugin = await diskPlugin({
    manifest: { version: "1.0", id: "X" },
  });
  const { code, stderr } = await runProgram(["pack", plugin.manifest]);
  assert.equal(code, 1);
  for (const text of ["/version", "/id", "InvalidManifestError"]) {
    assert.ok(stderr.includes(text), stderr);
  }
});

Deno.test("pack says what is wrong and what to do: targets, files, places", async () => {
  await using plugin = await diskPlugin();
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [["--target", "bogus"], /UnknownTargetError: .*\n.*claude-code, cowork/],
    [["--target", "goose"], /DeferredTargetError: .*"goose"/],
    [["--verify"], /not a valid one of this content.*placeholder/],
    [["--bridge", plugin.manifest], /no compiled program/],
    [["--bridge", "none"], /Cannot pack "none": it does not exist/],
    [["--signature", "none"], /Cannot read "none": it does not exist\n.*sign/],
    [["--out", `${plugin.manifest}/x`], /Cannot write to .*\n.*--out/],
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await runProgram(
      ["pack", plugin.manifest, ...args],
      { cwd: plugin.root },
    );
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /\n {4}at /);
    assert.equal(stdout, "");
  }
  assert.deepEqual(await namesIn(`${plugin.root}/dist`), []);
});

Deno.test("pack exits 2 on wrong usage", async () => {
  for (
    const args of [
      [],
      ["a.json", "b.json"],
      ["a.json", "--bogus"],
      ["a.json", "--target"],
      ["a.json", "--out="],
    ]
  ) {
    const { code, stderr } = await runProgram(["pack", ...args]);
    assert.equal(code, 2, args.join(" "));
    assert.match(stderr, /pack --help/);
  }
  const { code, stdout } = await runProgram(["pack", "--help"]);
  assert.equal(code, 0);
  assert.match(stdout, /Usage: cyberos-plugin pack MANIFEST/);
});

Deno.test({
  name:
    "P1-AC15 PACK-01 pack gives one SHA-256 in every time zone, locale, umask, folder and file order",
  ignore: !posix,
  fn: async () => {
    const digests = new Set<string>();
    const worlds = [
      { TZ: "UTC", LANG: "C", umask: "022" },
      { TZ: "Pacific/Kiritimati", LANG: "tr_TR.UTF-8", umask: "077" },
      { TZ: "America/Los_Angeles", LANG: "de_DE.UTF-8", umask: "000" },
      { TZ: "Asia/Kolkata", LANG: "ja_JP.UTF-8", umask: "027" },
    ];
    for (const [i, world] of worlds.entries()) {
      await using plugin = await diskPlugin({
        files: await orderedFiles(i % 2 === 1),
      });
      digests.add(await packIn(plugin, world));
    }
    assert.equal(digests.size, 1);
  },
});

// Names that locales sort in other orders, made in either order on the disk.
function orderedFiles(backwards: boolean): Promise<Record<string, string>> {
  const names = ["B", "a", "Z", "ä", "_", "-", "i", "I2", "10", "9", "a b"];
  if (backwards) names.reverse();
  return Promise.resolve(Object.fromEntries(
    names.map((name) => [
      `skills/read-trail/references/${name}.md`,
      `# ${name}\n`,
    ]),
  ));
}

async function packIn(
  plugin: DiskPlugin,
  { umask, ...env }: { TZ: string; LANG: string; umask: string },
): Promise<string> {
  const { stdout, stderr, success } = await new Deno.Command("sh", {
    args: [
      "-c",
      `umask ${umask}; exec "$@"`,
      "sh",
      Deno.execPath(),
      ...PROGRAM,
      "pack",
      plugin.manifest,
      "--json",
    ],
    cwd: plugin.root,
    env,
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout)).sha256;
}

// Pictures, because noise in them is what they are; slow to compress.
async function slowPlugin(): Promise<DiskPlugin> {
  const noise = new Uint8Array(1024 * 1024);
  for (let at = 0; at < noise.length; at += 65536) {
    crypto.getRandomValues(noise.subarray(at, at + 65536));
  }
  noise.set([0x89, 80, 78, 71, 13, 10, 26, 10]);
  const names = Array.from({ length: 48 }, (_, i) => `assets/${i}.png`);
  return await diskPlugin({
    files: Object.fromEntries(names.map((name) => [name, noise])),
  });
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test({
    name:
      `PACK-11 pack that is interrupted by ${signal} leaves nothing and exits 130`,
    ignore: !posix,
    fn: async () => {
      await using plugin = await slowPlugin();
      const child = new Deno.Command(Deno.execPath(), {
        args: [...PROGRAM, "pack", plugin.manifest, "--out", plugin.out],
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      }).spawn();
      let running = true;
      const ended = child.status.then(() => running = false);
      while (running && (await namesIn(plugin.out)).length === 0) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assert.ok(running, "the pack ended before it could be interrupted");
      child.kill(signal);
      const { code, stderr } = await child.output();
      await ended;
      assert.equal(code, 130);
      assert.match(new TextDecoder().decode(stderr), /nothing was written/);
      assert.deepEqual(await namesIn(plugin.out), []);
    },
  });
}

Deno.test("rebuild says that a bundle was made from its source, and exits 0", async () => {
  await using plugin = await diskPlugin();
  for (const target of ["claude-code", "cowork", "cursor", "codex-cli"]) {
    const packed = await runProgram([
      "pack",
      plugin.manifest,
      "--out",
      plugin.out,
      "--target",
      target,
      "--allow-unsigned",
      "--json",
    ]);
    const { bundle_path, sha256 } = JSON.parse(packed.stdout);
    const { code, stdout, stderr } = await runProgram([
      "rebuild",
      "--manifest",
      plugin.manifest,
      bundle_path,
      "--json",
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Equal:/);
    const result = JSON.parse(stdout);
    assert.equal(result.target, target);
    assert.equal(result.bundle_sha256, sha256);
    assert.equal(result.rebuilt_sha256, sha256);
  }
});

Deno.test("rebuild names the first entry that differs, and how", async () => {
  await using plugin = await diskPlugin();
  await runProgram(["pack", plugin.manifest, "--out", plugin.out]);
  const bundle = `${plugin.out}/acme-trail-1.2.3.plugin`;
  const changes: readonly (readonly [string, string | undefined, RegExp])[] = [
    [
      "assets/note.txt",
      "Other\ntext\n",
      /"assets\/note\.txt" differs: first at byte 0/,
    ],
    [
      "assets/a.txt",
      "x",
      /"assets\/a\.txt" is made from the source and not in/,
    ],
    [
      "assets/note.txt",
      undefined,
      /"assets\/note\.txt" is in the bundle and not/,
    ],
  ];
  const note = await Deno.readTextFile(`${plugin.folder}/assets/note.txt`);
  for (const [path, content, message] of changes) {
    if (content === undefined) await Deno.remove(`${plugin.folder}/${path}`);
    else await plugin.write(path, content);
    const { code, stderr } = await runProgram([
      "rebuild",
      "--manifest",
      plugin.manifest,
      bundle,
    ]);
    assert.equal(code, 1);
    assert.match(stderr, message);
    await Deno.remove(`${plugin.folder}/${path}`).catch(() => {});
    await plugin.write("assets/note.txt", note);
  }
});

Deno.test("rebuild takes no signature from a bundle that is none", async () => {
  await using plugin = await diskPlugin();
  const options = { outDir: plugin.out, failOnUnsigned: false };
  const { bundle_path } = await pack(plugin.manifest, options);
  const { entries } = await readZip(
    bytesSource(await Deno.readFile(bundle_path)),
  );
  const rebuildWith = async (spoil: (manifest: string) => string) => {
    const changed = await Promise.all(
      entries.map(async (entry) =>
        entry.path === "plugin.json"
          ? await memoryEntry(
            entry.path,
            spoil(new TextDecoder().decode(await entry.read())),
          )
          : entry
      ),
    );
    using file = await Deno.open(bundle_path, { write: true, truncate: true });
    await writeZip(changed, {
      write: async (bytes) => void await file.write(bytes),
    });
    const args = ["rebuild", "--manifest", plugin.manifest, bundle_path];
    return await runProgram(args);
  };
  for (const bad of ['"\\ud800"', "1e999", "[[]]", '{"sigstore_bundle":"x"}']) {
    const { code, stderr } = await rebuildWith((text) =>
      text.replace(/"signature":\{[^}]*\}/, `"signature":${bad}`)
    );
    assert.equal(code, 1, bad);
    assert.match(stderr, /"plugin\.json" differs/, bad);
  }
  const more = await rebuildWith((text) =>
    text.replace('"signature":{', '"signature":{"more":1,')
  );
  assert.match(more.stderr, /"plugin\.json" differs/);
  assert.equal((await rebuildWith((text) => text)).code, 0);
});

Deno.test("rebuild refuses what is no bundle, and wrong usage", async () => {
  await using plugin = await diskPlugin();
  const args = ["rebuild", "--manifest", plugin.manifest];
  const noBundle = await runProgram([...args, plugin.manifest]);
  assert.equal(noBundle.code, 1);
  assert.match(noBundle.stderr, /ZIP_UNREADABLE/);
  assert.equal((await runProgram([...args, plugin.folder])).code, 1);
  assert.equal((await runProgram([...args, "/nowhere"])).code, 1);
  assert.equal((await runProgram(args)).code, 2);
  assert.equal((await runProgram(["rebuild", plugin.manifest])).code, 2);
});
