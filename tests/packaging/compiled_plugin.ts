/** `cyberos-plugin` as a compiled program: the same answers as from source. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { identityToken } from "../support/signing_stack/identity_token.ts";
import { startSigningStack } from "../support/signing_stack/stack.ts";
import { emptyDir, type Ended, runAlone } from "./compiled.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MANIFEST = `${ROOT}manifests/cyberos@1.0.0.plugin.json`;

async function fromSource(args: readonly string[]): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "plugin", ...args],
    cwd: ROOT,
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** Each check by the title of its step. */
export const PLUGIN_CHECKS: Readonly<
  Record<string, (program: string) => Promise<void>>
> = {
  "PKG-02 cyberos-plugin says its version, its help and what it does not know":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      const at = { cwd: dir.path };
      const { stdout } = await runAlone(program, ["--version"], at);
      assert.match(stdout, /^cyberos-plugin \d+\.\d+\.\d+/);
      assert.equal((await runAlone(program, ["--help"], at)).code, 0);
      assert.equal((await runAlone(program, ["pakc"], at)).code, 2);
    },
  "PKG-02 cyberos-plugin validates, and prints the schema, as from source":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      for (const args of [["validate", MANIFEST, "--json"], ["schema"]]) {
        const ours = await runAlone(program, args, { cwd: dir.path });
        const source = await fromSource(args);
        assert.equal(ours.code, source.code, ours.stderr);
        assert.equal(ours.stdout, source.stdout);
      }
    },
  "PKG-02 cyberos-plugin packs every target to the same bytes as from source":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      for (const target of ["claude-code", "cursor", "codex-cli"]) {
        const args = ["pack", MANIFEST, "--target", target, "--json", "--out"];
        const ours = await runAlone(program, [...args, `${dir.path}/c`], {
          cwd: dir.path,
        });
        const source = await fromSource([...args, `${dir.path}/s`]);
        assert.equal(ours.code, 0, ours.stderr);
        const { sha256, tools_count, bundle_path } = JSON.parse(ours.stdout);
        assert.equal(sha256, JSON.parse(source.stdout).sha256);
        assert.equal(tools_count, 8);
        const bytes = await Deno.readFile(bundle_path);
        const digest = await crypto.subtle.digest("SHA-256", bytes);
        assert.equal(sha256, new Uint8Array(digest).toHex());
      }
    },
  "PKG-02 cyberos-plugin's doctor gives the verdict that it gives from source":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      const packed = await fromSource([
        ...["pack", MANIFEST, "--json", "--out", dir.path],
      ]);
      const args = ["doctor", JSON.parse(packed.stdout).bundle_path, "--json"];
      const ours = await runAlone(program, args, { cwd: dir.path });
      const source = await fromSource(args);
      assert.equal(ours.code, source.code);
      assert.equal(ours.stdout, source.stdout);
      assert.equal(
        JSON.parse(ours.stdout).invariants.length,
        8,
        "eight invariants",
      );
    },
  "PKG-02 cyberos-plugin makes a manifest that it finds valid": async (
    program,
  ) => {
    await using dir = await emptyDir();
    const at = { cwd: dir.path };
    const made = await runAlone(program, ["init", "--yes", "--id=made"], at);
    assert.equal(made.code, 0, made.stderr);
    const args = ["validate", "made@1.0.0.plugin.json"];
    const valid = await runAlone(program, args, at);
    assert.equal(valid.code, 0, valid.stderr);
  },
  "PKG-02 cyberos-plugin signs with an identity token, and its own doctor accepts the bundle":
    async (
      program,
    ) => {
      await using dir = await emptyDir();
      const at = { cwd: dir.path };
      for (const name of ["commands", "skills"]) {
        await copyTree(`${ROOT}manifests/${name}`, `${dir.path}/${name}`);
      }
      const manifest = "cyberos@1.0.0.plugin.json";
      await Deno.copyFile(MANIFEST, `${dir.path}/${manifest}`);
      const stack = await startSigningStack();
      try {
        const root = `${dir.path}/root.json`;
        await Deno.writeTextFile(root, JSON.stringify(stack.trustedRoot));
        const signed = await runAlone(program, [
          ...["sign", manifest, "--identity-token-file=-"],
          ...["--fulcio-url", stack.url, "--rekor-url", stack.url],
          ...["--trusted-root", root, "--json"],
        ], { ...at, stdin: identityToken(SIGNER) });
        assert.equal(signed.code, 0, signed.stderr);
        const packed = await runAlone(program, ["pack", manifest], at);
        assert.equal(packed.code, 0, packed.stderr);
        const examined = await runAlone(program, [
          ...["doctor", "dist/cyberos-1.0.0.plugin", "--trusted-root", root],
          ...["--certificate-identity", SIGNER.subject],
          ...["--certificate-oidc-issuer", SIGNER.issuer],
        ], at);
        assert.equal(examined.code, 0, examined.stdout + examined.stderr);
        const another = await runAlone(program, [
          ...["doctor", "dist/cyberos-1.0.0.plugin", "--trusted-root", root],
          ...["--certificate-identity", "https://ci.example/another"],
          ...["--certificate-oidc-issuer", SIGNER.issuer],
        ], at);
        assert.equal(another.code, 1, "signed by somebody else");
      } finally {
        await stack.close();
      }
    },
};

const SIGNER = {
  issuer: "https://issuer.example",
  subject: "https://ci.example/release@main",
};

async function copyTree(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyTree(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}
