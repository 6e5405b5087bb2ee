/** What may be packed from an author's folder, and what may not. */
import assert from "node:assert/strict";
import { pack, PackerError, type PackNotice } from "../../mod.ts";
import { readArchive } from "./support/archive.ts";
import { type DiskPlugin, diskPlugin, namesIn } from "./support/disk_plugin.ts";

const posix = Deno.build.os !== "windows";
const NOTES = "skills/read-trail/references";

async function refused(
  plugin: DiskPlugin,
  message: RegExp,
  code = "ENTRY_REFUSED",
): Promise<void> {
  await assert.rejects(
    pack(plugin.manifest, { outDir: plugin.out }),
    (error) => {
      assert.ok(error instanceof PackerError, String(error));
      assert.equal(error.code, code);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, new RegExp(plugin.root));
      return true;
    },
  );
  assert.deepEqual(await namesIn(plugin.out), []);
}

// Split, so that no scanner takes this file for a leak.
const KEY = `-----BEGIN ${"EC"} PRIVATE KEY-----\nMHcCAQEEI\n`;
const FORBIDDEN: readonly (readonly [string, string, string, RegExp])[] = [
  ["an .env", ".env", "A=1", /secrets/],
  ["an .env of a stage", ".env.production", "A=1", /secrets/],
  ["a private key by name", "id_ed25519", "x", /secrets/],
  ["a key file", "server.pem", "x", /secrets/],
  ["npm's credentials", ".npmrc", "x", /secrets/],
  ["a service account", "service-account.json", "{}", /secrets/],
  ["a private key in a text", "a.md", KEY, /private key/],
  ["a GitHub token", "a.md", `x ghp_${"a1".repeat(20)} y`, /GitHub token/],
  ["an AWS key", "a.txt", `AKIA${"ABCD".repeat(4)}`, /AWS/],
  [
    "a signed token",
    "a.json",
    `{"t":"eyJ${"a".repeat(20)}.eyJ${"b".repeat(20)}.${"c".repeat(43)}"}`,
    /JWT/,
  ],
  [
    "a URL with a password",
    "a.md",
    "see https://me:hunter22@host/x",
    /password/,
  ],
  ["a URL with a key", "a.md", `https://h/?api_key=${"9".repeat(20)}`, /key/],
  ["a git repository", ".git/config", "x", /version control/],
  ["git's own files", ".gitignore", "x", /version control/],
  ["a hidden file", ".hidden.md", "x", /dot/],
  ["a hidden folder", ".vscode/settings.json", "{}", /dot/],
  ["a script", "run.sh", "echo hi\n", /PROGRAM_SMUGGLED/],
  ["a script by its first line", "run.md", "#!/bin/sh\n", /PROGRAM_SMUGGLED/],
  ["a skill inside a skill", "evil/SKILL.md", "x\n", /inside another/],
  ["a file of an unknown kind", "data.dat", "x", /PATH_UNEXPECTED/],
  ["a device name", "aux.md", "x", /illegal/],
  ["a colon", "a:b.md", "x", /illegal/],
  ["a name that ends in a dot", "a.", "x", /illegal/],
];

for (const [what, name, content, message] of FORBIDDEN) {
  Deno.test({
    name: `ADP-10 PACK-09 pack() refuses ${what} in a skill's folder`,
    ignore: !posix,
    fn: async () => {
      await using plugin = await diskPlugin();
      await plugin.write(`${NOTES}/${name}`, content);
      await refused(plugin, message);
    },
  });
}

Deno.test("ADP-10 pack() takes texts that only talk about secrets", async () => {
  await using plugin = await diskPlugin({
    files: {
      [`${NOTES}/env.md`]:
        "Put `ghp_…` into `.env`. Never `https://user:password@host/`, https://u:${PW}@h, <https://host/?token=…>, sk-…, AKIA….\n",
      [`${NOTES}/keys.md`]: "A file that begins with PRIVATE KEY is a key.\n",
    },
  });
  const { bundle_path } = await pack(plugin.manifest, { outDir: plugin.out });
  assert.ok((await readArchive(bundle_path)).has(`${NOTES}/env.md`));
});

Deno.test("pack() leaves what operating systems drop into folders", async () => {
  await using plugin = await diskPlugin();
  const clean = await pack(plugin.manifest, { outDir: plugin.out });
  for (const name of [".DS_Store", "Thumbs.db", "desktop.ini", "._notes.md"]) {
    await plugin.write(`${NOTES}/${name}`, "x");
    await plugin.write(`assets/${name}`, "x");
  }
  const { sha256 } = await pack(plugin.manifest, { outDir: plugin.out });
  assert.equal(sha256, clean.sha256);
});

Deno.test({
  name: "pack() refuses symbolic links, to files and to folders, anywhere",
  ignore: !posix,
  fn: async () => {
    const links: readonly (readonly [string, string])[] = [
      ["/etc/passwd", `${NOTES}/link.md`],
      ["notes.md", `${NOTES}/link.md`],
      ["/etc", `${NOTES}/link`],
      ["..", "assets/up"],
      ["nowhere", "assets/dangling"],
    ];
    for (const [to, path] of links) {
      await using plugin = await diskPlugin();
      await Deno.symlink(to, `${plugin.folder}/${path}`);
      await refused(plugin, /symbolic link/);
    }
    await using plugin = await diskPlugin();
    await Deno.rename(`${plugin.folder}/skills`, `${plugin.root}/elsewhere`);
    await Deno.symlink("../elsewhere", `${plugin.folder}/skills`);
    await refused(plugin, /"skills": it is a symbolic link/);
  },
});

Deno.test({
  name: "pack() refuses a named pipe and does not wait on it",
  ignore: !posix,
  fn: async () => {
    await using plugin = await diskPlugin();
    const pipe = `${plugin.folder}/${NOTES}/pipe.md`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    await refused(plugin, /not a plain file/);
  },
});

Deno.test({
  name: "PACK-08 pack() refuses a name that is not Unicode",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using plugin = await diskPlugin();
    const script = `printf x > "$1/$(printf 'a\\377.md')"`;
    await new Deno.Command("sh", {
      args: ["-c", script, "sh", `${plugin.folder}/${NOTES}`],
    }).output();
    await refused(plugin, /illegal|not exist/);
  },
});

Deno.test({
  name: "PACK-08 pack() stores names in NFC, and refuses two forms of one name",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using one = await diskPlugin();
    await one.write(`${NOTES}/e\u0301.md`, "x\n");
    await using two = await diskPlugin();
    await two.write(`${NOTES}/\u00e9.md`, "x\n");
    const first = await pack(one.manifest, { outDir: one.out });
    const second = await pack(two.manifest, { outDir: two.out });
    assert.equal(first.sha256, second.sha256);
    await two.write(`${NOTES}/e\u0301.md`, "y\n");
    await Deno.remove(two.out, { recursive: true });
    await refused(two, /for one/);
  },
});

Deno.test({
  name: "PACK-09 pack() refuses names that differ in case only",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    for (
      const [a, b] of [
        ["README.md", "readme.md"],
        ["ß.txt", "ss.txt"],
        ["A/x.md", "a/y.md"],
      ] as const
    ) {
      await using plugin = await diskPlugin();
      await plugin.write(`${NOTES}/${a}`, "x\n");
      await plugin.write(`${NOTES}/${b}`, "y\n");
      await refused(plugin, /for one/);
    }
  },
});

Deno.test("pack() refuses a declared file that is not there in that spelling", async () => {
  await using plugin = await diskPlugin();
  const { folder } = plugin;
  await Deno.rename(
    `${folder}/skills/read-trail/SKILL.md`,
    `${folder}/skills/read-trail/Skill.md`,
  );
  await assert.rejects(
    pack(plugin.manifest, { outDir: plugin.out }),
    /SKILL\.md|validation/,
  );
  await using other = await diskPlugin();
  await Deno.remove(`${other.folder}/commands`, { recursive: true });
  await assert.rejects(pack(other.manifest, { outDir: other.out }));
  assert.deepEqual(await namesIn(other.out), []);
});

Deno.test("pack() leaves out commands and skills that are not declared, and says so", async () => {
  await using plugin = await diskPlugin();
  const clean = await pack(plugin.manifest, { outDir: plugin.out });
  await plugin.write("commands/extra.md", "x\n");
  await plugin.write("skills/other/SKILL.md", "x\n");
  await plugin.write("secret.txt", "x\n");
  await plugin.write(".env", "x\n");
  const notices: PackNotice[] = [];
  const { sha256 } = await pack(plugin.manifest, {
    outDir: plugin.out,
    onNotice: (notice) => notices.push(notice),
  });
  assert.equal(sha256, clean.sha256);
  const paths = notices.flatMap((notice) =>
    notice.kind === "left-out" ? notice.paths : []
  );
  assert.deepEqual(paths.toSorted(), ["commands/extra.md", "skills/other/"]);
});

Deno.test("pack() gives the same bytes for a checkout with CR LF", async () => {
  await using unix = await diskPlugin();
  await using windows = await diskPlugin();
  for (const file of [windows.manifest, `${windows.folder}/assets/note.txt`]) {
    const text = await Deno.readTextFile(file);
    await Deno.writeTextFile(file, text.replaceAll("\n", "\r\n"));
  }
  const skill = `${windows.folder}/skills/read-trail/SKILL.md`;
  const text = await Deno.readTextFile(skill);
  await Deno.writeTextFile(skill, text.replaceAll("\n", "\r\n"));
  const first = await pack(unix.manifest, { outDir: unix.out });
  const second = await pack(windows.manifest, { outDir: windows.out });
  assert.equal(first.sha256, second.sha256);
});

Deno.test("pack() leaves bytes of pictures as they are", async () => {
  const png = Uint8Array.of(
    0x89,
    80,
    78,
    71,
    13,
    10,
    26,
    10,
    13,
    10,
    0,
    13,
    10,
  );
  await using plugin = await diskPlugin({ files: { "assets/icon.png": png } });
  const { bundle_path } = await pack(plugin.manifest, { outDir: plugin.out });
  const text = (await readArchive(bundle_path)).get("assets/icon.png") ?? "";
  assert.equal(text.length, new TextDecoder().decode(png).length);
  assert.ok(text.endsWith("\r\n\u0000\r\n"));
});

Deno.test("PACK-11 pack() notices a source that changes while it is packed, and keeps the old bundle", async () => {
  const picture = new Uint8Array(200_000);
  picture.set([0x89, 80, 78, 71, 13, 10, 26, 10]);
  await using plugin = await diskPlugin({
    files: { "assets/big.png": picture },
  });
  const { bundle_path, sha256 } = await pack(plugin.manifest, {
    outDir: plugin.out,
  });
  const file = `${plugin.folder}/assets/big.png`;
  let changed = false;
  await assert.rejects(
    pack(plugin.manifest, {
      outDir: plugin.out,
      onProgress({ phase }) {
        if (phase !== "packing" || changed) return;
        changed = true;
        picture[100] = 1;
        Deno.writeFileSync(file, picture);
      },
    }),
    (error) => error instanceof PackerError && error.code === "ENTRY_CHANGED",
  );
  assert.ok(changed);
  assert.deepEqual(await namesIn(plugin.out), ["acme-trail-1.2.3.plugin"]);
  const digest = await crypto.subtle.digest(
    "SHA-256",
    await Deno.readFile(bundle_path),
  );
  assert.equal(new Uint8Array(digest).toHex(), sha256);
});

Deno.test("pack() refuses what is too deep or too many", async () => {
  await using plugin = await diskPlugin();
  await plugin.write(`assets/${"d/".repeat(13)}x.md`, "x\n");
  await refused(plugin, /folders deep/);
});

Deno.test("PACK-11 pack() says where it cannot write, and leaves nothing", async () => {
  await using plugin = await diskPlugin();
  const cannot = (outDir: string) =>
    assert.rejects(
      pack(plugin.manifest, { outDir }),
      (error) =>
        error instanceof PackerError && error.code === "OUTPUT_UNWRITABLE",
    );
  await cannot(plugin.manifest);
  await cannot(`${plugin.manifest}/below`);
  await Deno.mkdir(`${plugin.out}/acme-trail-1.2.3.plugin`, {
    recursive: true,
  });
  await cannot(plugin.out);
  assert.deepEqual(await namesIn(plugin.out), ["acme-trail-1.2.3.plugin"]);
});

Deno.test("PACK-11 two packs to one place do not disturb each other", async () => {
  await using plugin = await diskPlugin();
  const packs = Array.from(
    { length: 6 },
    () => pack(plugin.manifest, { outDir: plugin.out }),
  );
  const digests = (await Promise.all(packs)).map(({ sha256 }) => sha256);
  assert.equal(new Set(digests).size, 1);
  assert.deepEqual(await namesIn(plugin.out), ["acme-trail-1.2.3.plugin"]);
});
