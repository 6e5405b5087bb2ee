/** `cyberos-plugin sign` as a person or a CI job runs it. */
import assert from "node:assert/strict";
import { verifySignature } from "../../packer/sigstore/verify_signature.ts";
import { InvalidManifestError } from "../../packer/errors.ts";
import { pack } from "../../packer/pack.ts";
import { sign as signManifest } from "../../packer/sign.ts";
import { buildStatement } from "../../packer/content.ts";
import { findIdentityToken } from "../../packer/sigstore/identity_token.ts";
import { TARGETS } from "../../packer/types.ts";
import { type CliOptions, runProgram } from "../doctor/support/cli.ts";
import { authorFiles, MANIFEST } from "../doctor/support/plugin.ts";
import { identityToken } from "../support/signing_stack/identity_token.ts";
import { shareSigningStack } from "../support/signing_stack/shared.ts";

const shared = shareSigningStack();
const CLAIMS = {
  issuer: "https://issuer.example",
  subject: "https://ci.example/release@main",
};
const NAME = "acme-trail@1.2.3.plugin.json";

/** A plugin's source in a folder, gone at the end. */
async function inSource(
  work: (folder: string, manifest: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    for (const { path, read } of (await authorFiles()).values()) {
      const at = `${folder}/${path}`;
      await Deno.mkdir(at.slice(0, at.lastIndexOf("/")), { recursive: true });
      await Deno.writeFile(at, await read());
    }
    const manifest = `${folder}/${NAME}`;
    await Deno.writeTextFile(manifest, JSON.stringify(MANIFEST, null, 2));
    const { trustedRoot } = await shared.stack();
    await Deno.writeTextFile(
      `${folder}/root.json`,
      JSON.stringify(trustedRoot),
    );
    await work(folder, manifest);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function sign(
  folder: string,
  args: readonly string[],
  options: CliOptions = {},
) {
  const { url } = await shared.stack();
  return await runProgram(
    [
      "sign",
      `${folder}/${NAME}`,
      "--fulcio-url",
      url,
      "--rekor-url",
      url,
      ...args,
    ],
    {
      permissions: [
        "--ignore-env",
        "--allow-env=SIGSTORE_ID_TOKEN,ACTIONS_ID_TOKEN_REQUEST_URL,ACTIONS_ID_TOKEN_REQUEST_TOKEN",
        "--allow-read",
        `--allow-write=${folder}`,
        "--allow-net=127.0.0.1",
      ],
      ...options,
    },
  );
}

Deno.test("sign puts a signature where pack looks for it, and doctor accepts the bundle of each host", async () => {
  await inSource(async (folder, manifest) => {
    const before = await Deno.readTextFile(manifest);
    const root = `${folder}/root.json`;
    for (const target of TARGETS) {
      const run = await sign(folder, [
        "--target",
        target,
        "--identity-token-file",
        "-",
        "--trusted-root",
        root,
        "--json",
      ], { stdin: identityToken(CLAIMS) });
      assert.equal(run.code, 0, run.stderr);
      const result = JSON.parse(run.stdout);
      assert.equal(result.verified, true);
      assert.equal(result.certificate_identity, CLAIMS.subject);
      assert.equal(
        result.written,
        target === "claude-code"
          ? manifest
          : `${folder}/acme-trail@1.2.3.${target}.signature.json`,
      );
      const { bundle_path } = await pack(manifest, {
        target,
        outDir: `${folder}/out`,
      });
      const doctor = await runProgram([
        "doctor",
        bundle_path,
        "--trusted-root",
        root,
        "--certificate-identity",
        CLAIMS.subject,
        "--certificate-oidc-issuer",
        CLAIMS.issuer,
      ]);
      assert.equal(doctor.code, 0, doctor.stdout + doctor.stderr);
    }
    const after = await Deno.readTextFile(manifest);
    const start = after.indexOf(',\n  "signature"');
    assert.equal(after.slice(0, start), before.trimEnd().slice(0, start));
  });
});

Deno.test("sign asks for no token for what pack would refuse", async () => {
  await inSource(async (folder, manifest) => {
    const { url } = await shared.stack();
    let asked = 0;
    const signIt = (trustedRoots?: [{ name: string; json: unknown }]) =>
      signManifest(manifest, {
        ...(trustedRoots && { trustedRoots }),
        services: { fulcioUrl: url, rekorUrl: url },
        token: () => {
          asked++;
          return findIdentityToken({
            token: identityToken(CLAIMS),
            fetch,
            now: new Date(),
          });
        },
      });
    const command = `${folder}/commands/acme-audit.md`;
    const good = await Deno.readTextFile(command);
    await Deno.writeTextFile(command, "---\nname: other\n---\n");
    await assert.rejects(signIt(), InvalidManifestError);
    await Deno.writeTextFile(command, `${good}\nNow: !\`id\`\n`);
    await assert.rejects(signIt(), /SHELL_COMMAND/);
    await Deno.writeTextFile(command, good);
    await assert.rejects(signIt([{ name: "mine", json: {} }]), /trusted root/);
    assert.equal(asked, 0);
    await signIt();
    assert.equal(asked, 1);
  });
});

Deno.test("sign names the signer as the certificate does, whatever the token is called", async () => {
  await inSource(async (_, manifest) => {
    const { url } = await shared.stack();
    const result = await signManifest(manifest, {
      services: { fulcioUrl: url, rekorUrl: url },
      token: () =>
        Promise.resolve({
          value: identityToken(CLAIMS),
          subject: "repo:acme/trail:ref:refs/heads/main",
          issuer: "https://broker.example",
        }),
    });
    assert.equal(result.certificate_identity, CLAIMS.subject);
    assert.equal(result.certificate_oidc_issuer, CLAIMS.issuer);
  });
});

Deno.test("sign takes the token of the CI environment", async () => {
  const github = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ headers }) =>
      headers.get("authorization") === "Bearer request-token"
        ? Response.json({ value: identityToken(CLAIMS) })
        : new Response(null, { status: 401 }),
  );
  try {
    await inSource(async (folder) => {
      const environments: Record<string, string>[] = [
        { SIGSTORE_ID_TOKEN: identityToken(CLAIMS) },
        {
          ACTIONS_ID_TOKEN_REQUEST_URL:
            `http://127.0.0.1:${github.addr.port}/?x=1`,
          ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
        },
      ];
      for (const env of environments) {
        const run = await sign(folder, ["--json"], { env });
        assert.equal(run.code, 0, run.stderr);
        const { certificate_oidc_issuer, verified } = JSON.parse(run.stdout);
        assert.equal(certificate_oidc_issuer, CLAIMS.issuer);
        assert.equal(verified, false, "no trusted root was given");
      }
    });
  } finally {
    await github.shutdown();
  }
});

Deno.test("sign writes nothing when it fails, says why, and shows no token", async () => {
  await inSource(async (folder, manifest) => {
    const before = await Deno.readTextFile(manifest);
    await Deno.writeTextFile(`${folder}/other_root.json`, "{}");
    const token = identityToken(CLAIMS);
    const env = { SIGSTORE_ID_TOKEN: token };
    const failures: [number, RegExp, string[], CliOptions][] = [
      [1, /No identity token/, [], {}],
      [1, /Cannot read the identity token from ".*": it does not exist/, [
        "--identity-token-file",
        `${folder}/none`,
      ], {}],
      [1, /Unknown target "bogus"/, ["--target", "bogus"], { env }],
      [
        1,
        /Fulcio gave no certificate/,
        ["--fulcio-url", "http://127.0.0.1:1"],
        { env },
      ],
      [1, /Rekor took no log entry/, ["--rekor-url", "http://127.0.0.1:1"], {
        env,
      }],
      [1, /trusted root/, ["--trusted-root", `${folder}/other_root.json`], {
        env,
      }],
      [1, /does not exist/, ["--bridge", `${folder}/none`], { env }],
      [
        2,
        /not two/,
        ["--identity-token", token, "--identity-token-file", "-"],
        {},
      ],
      [2, /must be an https URL/, ["--rekor-url", "ftp://x"], { env }],
      [2, /must be an https URL/, ["--fulcio-url", "http://fulcio.example"], {
        env,
      }],
      [2, /must be an https URL/, ["--tsa-url", "http://127.evil.example"], {
        env,
      }],
      [2, /exactly one manifest/, [token], { env }],
      [2, /redacted/, [`--${token}`], { env }],
    ];
    for (const [code, message, args, options] of failures) {
      const run = await sign(folder, args, options);
      assert.equal(run.code, code, `${message}: ${run.stderr}`);
      assert.match(run.stderr, message);
      for (const part of token.split(".")) {
        assert.ok(!(run.stdout + run.stderr).includes(part), String(message));
      }
      assert.equal(await Deno.readTextFile(manifest), before);
    }
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assert.deepEqual(names, [
      NAME,
      "assets",
      "commands",
      "other_root.json",
      "root.json",
      "skills",
    ]);
  });
});

Deno.test("sign --out writes the signature to a file of its own and leaves the manifest alone", async () => {
  await inSource(async (folder, manifest) => {
    const before = await Deno.readTextFile(manifest);
    const out = `${folder}/own.json`;
    const run = await sign(folder, ["--out", out], {
      env: { SIGSTORE_ID_TOKEN: identityToken(CLAIMS) },
    });
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, /verified {3}no: no trusted root at hand/);
    assert.equal(await Deno.readTextFile(manifest), before);
    const { trustedRoot } = await shared.stack();
    const { signature } = await pack(manifest, {
      outDir: `${folder}/out`,
      signatureFile: out,
      checkSignature: async (content) => {
        await verifySignature({
          signature: content.manifest.signature,
          statement: await buildStatement(content),
          roots: [{ name: "test", json: trustedRoot }],
          now: new Date(),
        });
        return { valid: true };
      },
    });
    assert.equal(signature, "verified");
  });
});
