/** The plugin of this repository: really signed, for every host, and nobody else can. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { examineBundle } from "../../packer/doctor/examine.ts";
import { exitCodeOf, verdictsOf } from "../../packer/doctor/report.ts";
import { pack } from "../../packer/pack.ts";
import { builtInRoots } from "../../packer/trust/roots.ts";
import { TARGETS } from "../../packer/types.ts";

const MANIFESTS = fileURLToPath(new URL("../../manifests", import.meta.url));
const NAME = "cyberos@1.0.0.plugin.json";
const IDENTITY = {
  certificateIdentity: "https://cyberos.invalid/development-signing",
  certificateOidcIssuer: "https://issuer.cyberos.invalid",
};

async function inFolder(work: (folder: string) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (const target of TARGETS) {
  Deno.test(`the shipped plugin packs for ${target} with a valid signature, and doctor finds all 8 invariants`, async () => {
    await inFolder(async (outDir) => {
      const { bundle_path, signature } = await pack(`${MANIFESTS}/${NAME}`, {
        target,
        outDir,
      });
      const again = "manifests/ has changed: run deno task sign:dev";
      assert.equal(signature, "verified", again);
      const examination = await examineBundle(bundle_path, {
        policy: { signers: [IDENTITY] },
        requireIdentity: true,
      });
      assert.deepEqual(verdictsOf(examination), []);
      assert.equal(exitCodeOf(examination), 0);
      assert.equal(examination.target, target);
      const { trustedRoot } = examination.notes.signature ?? {};
      assert.equal(trustedRoot, "CyberOS development signing");
    });
  });
}

Deno.test("the root of the shipped signatures vouches for them and for nothing else", () => {
  const root = builtInRoots().find(({ name }) =>
    name === "CyberOS development signing"
  );
  assert.equal(root?.onlyEntries?.length, TARGETS.length);
});

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

Deno.test("the shipped signature does not fit a copy in which one word was changed", async () => {
  await inFolder(async (folder) => {
    await copyFolder(`${MANIFESTS}/commands`, `${folder}/commands`);
    await copyFolder(`${MANIFESTS}/skills`, `${folder}/skills`);
    await Deno.copyFile(`${MANIFESTS}/${NAME}`, `${folder}/${NAME}`);
    const skill = `${folder}/skills/run-cuo-workflow/SKILL.md`;
    const text = await Deno.readTextFile(skill);
    await Deno.writeTextFile(skill, text.replace("inputs", "secrets"));
    const outDir = `${folder}/out`;
    const { bundle_path, signature } = await pack(`${folder}/${NAME}`, {
      outDir,
    });
    assert.equal(signature, "unverified");
    const examination = await examineBundle(bundle_path);
    assert.deepEqual(verdictsOf(examination), ["CONTENT_MISMATCH"]);
  });
});

Deno.test("the shipped signature of one host does not fit the bundle of another", async () => {
  await inFolder(async (outDir) => {
    const { bundle_path } = await pack(`${MANIFESTS}/${NAME}`, {
      target: "claude-code",
      outDir,
      signatureFile: `${MANIFESTS}/cyberos@1.0.0.cowork.signature.json`,
    });
    const examination = await examineBundle(bundle_path);
    const [verdict] = verdictsOf(examination);
    assert.equal(verdict, "CONTENT_MISMATCH");
  });
});
