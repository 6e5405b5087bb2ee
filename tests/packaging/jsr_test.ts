import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { commandsOf } from "../docs/commands.ts";
import { emptyDir, type Ended } from "./compiled.ts";
import { startJsrRegistry } from "./jsr_registry.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MANIFEST = `${ROOT}manifests/cyberos@1.0.0.plugin.json`;

async function deno(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    ...options,
    args: [...args],
    env: { ...options.env, NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** A cache of its own, but for the npm packages, which are the same pinned ones. */
async function freshCache(dir: string): Promise<string> {
  const cache = Deno.env.get("DENO_DIR") ??
    `${Deno.env.get("HOME")}/.cache/deno`;
  await Deno.mkdir(`${dir}/deno`);
  await Deno.symlink(`${cache}/npm`, `${dir}/deno/npm`);
  return `${dir}/deno`;
}

/** The flags of README's own line for authors. */
function readmeFlags(): string[] {
  const line = commandsOf(`${ROOT}README.md`)
    .map(({ text }) => text)
    .find((text) => /jsr:@cyberos\/plugin\S* pack/.test(text));
  assert.ok(line, "README shows how to pack from JSR");
  const words = line.replaceAll("'", "").split(/\s+/);
  return words.slice(2, words.findIndex((word) => word.startsWith("jsr:")));
}

Deno.test(
  "what is published to JSR packs and examines from another folder, with the flags of README",
  {
    ignore: Deno.build.os === "windows",
  },
  async (t) => {
    await using registry = startJsrRegistry();
    await using dir = await emptyDir();
    const JSR_URL = registry.url;
    await t.step("deno publish finds nothing to complain about", async () => {
      const { code, stderr } = await deno(
        ["publish", "--token=none", "--no-provenance", "--allow-dirty"],
        { cwd: ROOT, env: { JSR_URL } },
      );
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /warning|error/i);
    });
    await t.step("only the product's files are published", () => {
      const strays = [...registry.files.keys()].filter((path) =>
        /^\/(tests|bench|chaos|scripts|deploy|docs|\.)|_(test|bench)\.ts$/.test(
          path,
        ) && path !== "/packer/sigstore/self_test.ts"
      );
      assert.deepEqual(strays, []);
    });
    const DENO_DIR = await freshCache(dir.path);
    const work = `${dir.path}/work`;
    await Deno.mkdir(work);
    const plugin = (...args: string[]) =>
      deno(["run", ...readmeFlags(), "jsr:@cyberos/plugin@1.0.0", ...args], {
        cwd: work,
        env: { JSR_URL, DENO_DIR },
      });
    await t.step(
      "PKG-04 pack writes the bundle that the source writes, and nothing but its result on stdout",
      async () => {
        const ours = await plugin("pack", MANIFEST, "--json");
        assert.equal(ours.code, 0, ours.stderr);
        const source = await deno(
          [
            ...["task", "--quiet", "plugin", "pack", MANIFEST, "--json"],
            `--out=${work}/source`,
          ],
          { cwd: ROOT, env: {} },
        );
        assert.equal(
          JSON.parse(ours.stdout).sha256,
          JSON.parse(source.stdout).sha256,
        );
      },
    );
    await t.step("doctor examines it", async () => {
      const { stdout } = await plugin(
        "doctor",
        "dist/cyberos-1.0.0.plugin",
        "--json",
      );
      assert.equal(JSON.parse(stdout).invariants.length, 8);
    });
  },
);
