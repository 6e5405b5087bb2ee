/** docs/signing.md: an outsider follows it to the letter and comes to the same end. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { pack } from "../../packer/pack.ts";
import { EXPLANATIONS } from "../../packer/doctor/explain.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TOOLS = ["bash", "unzip", "jq", "openssl", "sha256sum", "od"];

async function have(tool: string): Promise<boolean> {
  try {
    await new Deno.Command(tool, {
      args: ["--version"],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return true;
  } catch {
    return false;
  }
}

const haveTools = (await Promise.all(TOOLS.map(have))).every(Boolean);

/** The commands of the section, in their order. */
async function commands(): Promise<string> {
  const page = await Deno.readTextFile(`${ROOT}docs/signing.md`);
  const section = page.slice(page.indexOf("## Verify by hand"));
  const blocks = [...section.matchAll(/```sh\n([^]*?)```/g)];
  assert.equal(blocks.length, 12);
  return blocks.map(([, block]) => block).join("\n");
}

/** Follows the page in a folder with the bundle and its root. */
async function follow(
  script: string,
): Promise<{ success: boolean; stdout: string; stderr: string }> {
  const folder = await Deno.makeTempDir();
  try {
    await pack(`${ROOT}manifests/cyberos@1.0.0.plugin.json`, {
      outDir: folder,
    });
    await Deno.copyFile(
      `${ROOT}packer/trust/bootstrap_root.json`,
      `${folder}/trusted_root.json`,
    );
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-euo", "pipefail", "-c", script],
      cwd: folder,
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return { success, stdout: text(stdout), stderr: text(stderr) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test({
  name:
    "docs/signing.md verifies the shipped bundle by hand, with openssl and a zip tool",
  ignore: !haveTools,
  async fn() {
    const { success, stdout, stderr } = await follow(await commands());
    assert.ok(success, stdout + stderr);
    assert.equal(stdout.match(/^Verified OK$/gm)?.length, 3);
    assert.match(stdout, /URI:https:\/\/cyberos\.invalid\/development-signing/);
    assert.match(stdout, /https:\/\/issuer\.cyberos\.invalid/);
    assert.match(stdout, /cert\.pem: OK/);
    assert.match(stdout, /The log has this entry/);
    assert.match(stdout, /^[0-9a-f]{80}$/m);
  },
});

Deno.test({
  name: "docs/signing.md ends at the right step when something was changed",
  ignore: !haveTools,
  async fn() {
    const script = await commands();
    const changes: [RegExp, string, RegExp][] = [
      [
        /\ncontents=/,
        "\necho x >> contents.txt\ncontents=",
        /statement\.json payload\.json differ/,
      ],
      [
        /\nopenssl dgst -sha256 -verify signer/,
        "\necho x >> signed.bin$&",
        /Verification failure/i,
      ],
      [/\nnode=\$leaf/, `\nnode=${"0".repeat(64)}`, /Verified OK\s+$/],
    ];
    for (const [at, change, message] of changes) {
      const changed = script.replace(at, change);
      assert.notEqual(changed, script);
      const { success, stdout, stderr } = await follow(changed);
      assert.equal(success, false);
      assert.match(stdout + stderr, message);
    }
  },
});

Deno.test("docs/doctor.md explains every verdict in the program's own words", async () => {
  const page = await Deno.readTextFile(`${ROOT}docs/doctor.md`);
  for (const [code, explanation] of Object.entries(EXPLANATIONS)) {
    const row = new RegExp(`\\| \`${code}\` +\\| ${escape(explanation)} +\\|`);
    assert.match(page, row, code);
  }
});

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
