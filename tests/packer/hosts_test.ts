/** What each host gets, file by file. */
import assert from "node:assert/strict";
import { parse as parseYaml } from "yaml";
import { pack, PackerError, type Target } from "../../mod.ts";
import { composeBundle } from "../../packer/compose.ts";
import { authorFiles, MANIFEST } from "../doctor/support/plugin.ts";
import { listArchive, readArchive } from "./support/archive.ts";
import { type DiskPlugin, diskPlugin } from "./support/disk_plugin.ts";

async function packed(
  plugin: DiskPlugin,
  target: Target,
  options: { readonly bridge?: string } = {},
) {
  const result = await pack(plugin.manifest, {
    target,
    outDir: plugin.out,
    failOnUnsigned: false,
    ...options,
  });
  return { result, files: await readArchive(result.bundle_path) };
}

const json = (files: ReadonlyMap<string, string>, path: string) =>
  JSON.parse(files.get(path) ?? "");

const AUTHOR_FILES = [
  "assets/note.txt",
  "skills/read-trail/SKILL.md",
  "skills/read-trail/references/notes.md",
];

Deno.test("ADP-04 ADP-05 claude-code gets a plugin that is a marketplace of itself, without a path field", async () => {
  await using plugin = await diskPlugin();
  const { files, result } = await packed(plugin, "claude-code");
  assert.deepEqual(
    [...files.keys()].toSorted(),
    [
      ".claude-plugin/marketplace.json",
      ".claude-plugin/plugin.json",
      ".mcp.json",
      "README.md",
      "assets/note.txt",
      "commands/acme-audit.md",
      "plugin.json",
      ...AUTHOR_FILES.slice(1),
    ].toSorted(),
  );
  const host = json(files, ".claude-plugin/plugin.json");
  assert.deepEqual(
    Object.keys(host),
    ["name", "version", "description", "author", "license"],
  );
  assert.equal(host.name, "acme-trail");
  assert.deepEqual(host.author, { name: "Acme", url: "https://acme.example" });
  const market = json(files, ".claude-plugin/marketplace.json");
  assert.equal(market.plugins[0].source, "./");
  assert.deepEqual(json(files, ".mcp.json"), {
    mcpServers: {
      cyberos: {
        command: "cyberos-mcp-bridge",
        args: ["--plugin-id", "acme-trail"],
      },
    },
  });
  assert.equal(result.commands_count, 1);
  assert.equal(result.skills_count, 1);
});

Deno.test("cowork gets the same without a marketplace", async () => {
  await using plugin = await diskPlugin();
  const claude = await packed(plugin, "claude-code");
  const { files } = await packed(plugin, "cowork");
  const claudePaths = [...claude.files.keys()];
  assert.deepEqual(
    [...files.keys()],
    claudePaths.filter((path) => !path.endsWith("marketplace.json")),
  );
  for (const path of [".mcp.json", ".claude-plugin/plugin.json"]) {
    assert.equal(files.get(path), claude.files.get(path));
  }
});

Deno.test("cursor gets commands with name and description, no skills, and the manifest out of its way", async () => {
  await using plugin = await diskPlugin();
  const { files, result } = await packed(plugin, "cursor");
  assert.deepEqual([...files.keys()].toSorted(), [
    ".cursor-plugin/plugin.json",
    "README.md",
    "assets/note.txt",
    "commands/acme-audit.md",
    "cyberos/plugin.json",
    "mcp.json",
  ]);
  assert.deepEqual(Object.keys(json(files, ".cursor-plugin/plugin.json")), [
    "name",
    "displayName",
    "version",
    "description",
    "author",
    "license",
  ]);
  assert.equal(json(files, "mcp.json").mcpServers.cyberos.type, "stdio");
  const [, frontmatter, body] = (files.get("commands/acme-audit.md") ?? "")
    .split("---\n");
  assert.deepEqual(Object.keys(parseYaml(frontmatter ?? "")), [
    "name",
    "description",
  ]);
  assert.match(body ?? "", /^\n## When to use/);
  assert.equal(result.commands_count, 1);
  assert.equal(result.skills_count, 0);
});

Deno.test("ADP-07 codex-cli gets its commands as skills, and the manifest out of its way", async () => {
  await using plugin = await diskPlugin();
  const { files, result } = await packed(plugin, "codex-cli");
  assert.deepEqual(
    [...files.keys()].toSorted(),
    [
      ".agents/plugins/marketplace.json",
      ".codex-plugin/plugin.json",
      ".mcp.json",
      "README.md",
      "assets/note.txt",
      "cyberos/plugin.json",
      "skills/acme-audit/SKILL.md",
      ...AUTHOR_FILES.slice(1),
    ].toSorted(),
  );
  const servers = json(files, ".mcp.json");
  assert.deepEqual(Object.keys(servers), ["mcpServers"]);
  assert.deepEqual(Object.keys(servers.mcpServers.cyberos), [
    "command",
    "args",
  ]);
  const [, frontmatter] = (files.get("skills/acme-audit/SKILL.md") ?? "")
    .split("---\n");
  const { name, description, license } = parseYaml(frontmatter ?? "");
  assert.equal(name, "acme-audit");
  assert.equal(license, "Apache-2.0");
  assert.match(description, /Use for "show the audit trail", "what was/);
  assert.ok(description.length <= 1024);
  assert.equal(result.commands_count, 0);
  assert.equal(result.skills_count, 2);
});

Deno.test("codex-cli refuses a command and a skill of one name", async () => {
  await using plugin = await diskPlugin({
    manifest: {
      commands: [{ name: "/read-trail", file: "commands/read-trail.md" }],
    },
  });
  const { folder } = plugin;
  const text = await Deno.readTextFile(`${folder}/commands/acme-audit.md`);
  await plugin.write(
    "commands/read-trail.md",
    text.replaceAll("acme-audit", "read-trail"),
  );
  await assert.rejects(
    packed(plugin, "codex-cli"),
    (error) => error instanceof PackerError && error.code === "ENTRY_REFUSED",
  );
  await packed(plugin, "claude-code");
});

Deno.test("ADP-09 generated frontmatter reads back to the letter", async () => {
  const description =
    `Use it: "now" # and then {{x}} 'é' \\n & *a ! % @ \` — or [b], and the rest of sixty characters`;
  await using plugin = await diskPlugin();
  const file = `${plugin.folder}/commands/acme-audit.md`;
  const text = await Deno.readTextFile(file);
  await Deno.writeTextFile(
    file,
    text.replace(
      /^description: .*$/m,
      () => `description: ${JSON.stringify(description)}`,
    ),
  );
  const { files } = await packed(plugin, "cursor");
  const [, frontmatter] = (files.get("commands/acme-audit.md") ?? "")
    .split("---\n");
  assert.equal(parseYaml(frontmatter ?? "").description, description);
});

Deno.test("bundles for different hosts have different names and digests", async () => {
  await using plugin = await diskPlugin();
  const digests = new Set<string>();
  const names = new Set<string>();
  for (
    const target of ["claude-code", "cowork", "cursor", "codex-cli"] as const
  ) {
    const { result } = await packed(plugin, target);
    digests.add(result.sha256);
    names.add(result.bundle_path);
  }
  assert.equal(digests.size, 4);
  assert.equal(names.size, 4);
});

Deno.test("the server of the plugin cyberos needs no argument", async () => {
  await using plugin = await diskPlugin({ manifest: { id: "cyberos" } });
  const { files } = await packed(plugin, "claude-code");
  assert.deepEqual(json(files, ".mcp.json").mcpServers.cyberos.args, []);
});

/** The head of a program for a platform: enough to tell it by. */
function program(kind: "elf" | "mach-o" | "pe"): Uint8Array {
  const bytes = new Uint8Array(5000);
  const view = new DataView(bytes.buffer);
  if (kind === "elf") {
    view.setUint32(0, 0x7f454c46);
    view.setUint16(18, 62, true);
  } else if (kind === "mach-o") {
    view.setUint32(0, 0xfeedfacf, true);
    view.setUint32(4, 0x0100000c, true);
  } else {
    view.setUint16(0, 0x4d5a);
    view.setUint32(0x3c, 128, true);
    view.setUint32(128, 0x50450000);
    view.setUint16(132, 0x8664, true);
  }
  return bytes;
}

Deno.test("a bridge goes to server/ with mode 0755 and the host starts it from there", async () => {
  const commands: Readonly<Record<Target, string>> = {
    "claude-code": "${CLAUDE_PLUGIN_ROOT}/server/cyberos-mcp-bridge",
    cowork: "${CLAUDE_PLUGIN_ROOT}/server/cyberos-mcp-bridge",
    cursor: "${CURSOR_PLUGIN_ROOT}/server/cyberos-mcp-bridge",
    "codex-cli": "./server/cyberos-mcp-bridge",
  };
  await using plugin = await diskPlugin();
  const bridge = `${plugin.root}/bridge`;
  await Deno.writeFile(bridge, program("elf"), { mode: 0o600 });
  for (const [target, command] of Object.entries(commands)) {
    const { files, result } = await packed(plugin, target as Target, {
      bridge,
    });
    const servers = json(files, target === "cursor" ? "mcp.json" : ".mcp.json");
    assert.equal(servers.mcpServers.cyberos.command, command);
    assert.equal(
      servers.mcpServers.cyberos.cwd,
      target === "codex-cli" ? "." : undefined,
    );
    const listed = listArchive(await Deno.readFile(result.bundle_path));
    const modes = listed.map(({ path, mode }) => [path, mode] as const);
    for (const [path, mode] of modes) {
      const isBridge = path === "server/cyberos-mcp-bridge";
      assert.equal(mode, isBridge ? 0o100755 : 0o100644, path);
    }
    assert.ok(files.has("server/cyberos-mcp-bridge"));
    assert.match(result.bundle_path, /\.linux-x64\.unsigned\.zip$/);
  }
});

Deno.test("a bridge for Windows keeps its ending, one for macOS has its platform in the name", async () => {
  await using plugin = await diskPlugin();
  const bridge = `${plugin.root}/bridge`;
  await Deno.writeFile(bridge, program("pe"));
  const windows = await packed(plugin, "claude-code", { bridge });
  assert.ok(windows.files.has("server/cyberos-mcp-bridge.exe"));
  assert.equal(
    json(windows.files, ".mcp.json").mcpServers.cyberos.command,
    "${CLAUDE_PLUGIN_ROOT}/server/cyberos-mcp-bridge.exe",
  );
  assert.match(windows.result.bundle_path, /claude-code\.win32-x64\./);
  await Deno.writeFile(bridge, program("mach-o"));
  const mac = await packed(plugin, "claude-code", { bridge });
  assert.match(mac.result.bundle_path, /claude-code\.darwin-arm64\./);
});

Deno.test("a bridge that is no compiled program is refused", async () => {
  await using plugin = await diskPlugin();
  const bridge = `${plugin.root}/bridge`;
  for (const content of ["#!/bin/sh\nexec x\n", "", "MZ".padEnd(5000, "x")]) {
    await Deno.writeTextFile(bridge, content);
    await assert.rejects(
      packed(plugin, "claude-code", { bridge }),
      (error) => error instanceof PackerError && error.code === "ENTRY_REFUSED",
    );
  }
  await assert.rejects(
    packed(plugin, "claude-code", { bridge: `${plugin.root}/none` }),
    PackerError,
  );
});

Deno.test("a signature of a bundle with a bridge lies beside the manifest, also for claude-code", async () => {
  await using plugin = await diskPlugin();
  const bridge = `${plugin.root}/bridge`;
  await Deno.writeFile(bridge, program("elf"));
  const options = { outDir: plugin.out, bridge };
  await assert.rejects(pack(plugin.manifest, options));
  await plugin.write(
    "acme-trail@1.2.3.claude-code.linux-x64.signature.json",
    JSON.stringify({ sigstore_bundle: "e30=", rekor_uuid: "1" }),
  );
  const { bundle_path, signature } = await pack(plugin.manifest, options);
  assert.equal(signature, "unverified");
  assert.match(
    bundle_path,
    /acme-trail-1\.2\.3\.claude-code\.linux-x64\.plugin$/,
  );
});

Deno.test("ADP-10 nothing of this machine is in any file of any bundle", async () => {
  await using plugin = await diskPlugin();
  const words = [
    plugin.root,
    Deno.cwd(),
    Deno.hostname(),
    Deno.env.get("HOME") ?? "",
  ].filter((word) => word.length > 3);
  assert.ok(words.length >= 2);
  for (
    const target of ["claude-code", "cowork", "cursor", "codex-cli"] as const
  ) {
    const { files } = await packed(plugin, target);
    for (const [path, text] of files) {
      for (const word of words) assert.equal(text.includes(word), false, path);
    }
  }
});

Deno.test("ADP-10 a manifest with a secret in it is refused", async () => {
  await using plugin = await diskPlugin({
    manifest: {
      description: `Sign in with ghp_${
        "a1".repeat(20)
      } and read the audit memory of the company in plain words.`,
    },
  });
  await assert.rejects(packed(plugin, "claude-code"), /GitHub token/);
});

Deno.test("composeBundle() refuses two files that some system takes for one", async () => {
  const files = await authorFiles({ "assets/A.txt": "x", "assets/a.txt": "y" });
  const input = { manifest: MANIFEST, files, target: "cowork" } as const;
  await assert.rejects(composeBundle(input), /for one/);
  files.delete("assets/A.txt");
  await composeBundle(input);
});

Deno.test("composeBundle() refuses a declared file that is not there", async () => {
  for (const path of ["commands/acme-audit.md", "skills/read-trail/SKILL.md"]) {
    const files = await authorFiles();
    files.delete(path);
    await assert.rejects(
      composeBundle({ manifest: MANIFEST, files, target: "claude-code" }),
      (error) => error instanceof PackerError && error.code === "ENTRY_REFUSED",
    );
  }
});
