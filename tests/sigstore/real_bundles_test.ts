/** Real bundles of the public Sigstore come out as their names say. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createPublicKey } from "node:crypto";
import { loadSigstore, type Sigstore } from "../../packer/sigstore/library.ts";
import { authorizeSigner } from "../../packer/sigstore/policy.ts";
import { parseTrustedRoot } from "../../packer/sigstore/trusted_root.ts";
import { verifySigstoreBundle } from "../../packer/sigstore/verify_bundle.ts";
import publicGoodRoot from "../../packer/trust/public_good_root.json" with {
  type: "json",
};
import conformance from "../fixtures/sigstore/conformance.json" with {
  type: "json",
};

const FIXTURES = new URL("../fixtures/sigstore/", import.meta.url);
const IDENTITY =
  "https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/.github/workflows/extremely-dangerous-oidc-beacon.yml@refs/heads/main";
const ISSUER = "https://token.actions.githubusercontent.com";

interface Case {
  readonly root?: string;
  readonly artifact?: string;
  readonly key?: string;
  readonly identity?: string;
  readonly issuer?: string;
}

function text(path: string): string {
  return Deno.readTextFileSync(new URL(path, FIXTURES));
}

function materialOf(sigstore: Sigstore, { root, key }: Case) {
  const { material } = parseTrustedRoot(sigstore, {
    name: root ?? "public good",
    json: root === undefined
      ? publicGoodRoot
      : JSON.parse(text(`roots/${root}.json`)),
  });
  if (key === undefined) return material;
  const publicKey = createPublicKey(key);
  return {
    ...material,
    publicKey: () => ({ publicKey, validFor: () => true }),
  };
}

/** Verifies one case as its suite defines it. @throws When it is refused. */
function verifyCase(sigstore: Sigstore, bundleText: string, from: Case): void {
  const material = materialOf(sigstore, from);
  const bundle = sigstore.bundle.bundleFromJSON(JSON.parse(bundleText));
  const artifact = Buffer.from(
    from.artifact ?? conformance.default_artifact,
    "base64",
  );
  const now = new Date();
  const signer = verifySigstoreBundle(sigstore, bundle, {
    material,
    artifact,
    now,
  });
  if (from.key !== undefined) return;
  authorizeSigner(signer, {
    signers: [{
      certificateIdentity: from.identity ?? IDENTITY,
      certificateOidcIssuer: from.issuer ?? ISSUER,
    }],
  });
}

for (const [name, from] of Object.entries(conformance.cases)) {
  const refused = name.endsWith("_fail");
  Deno.test(
    `DOC-07 the real bundle ${name} is ${refused ? "refused" : "accepted"}`,
    async () => {
      const sigstore = await loadSigstore();
      const bundle = text(`conformance/${name}.json`);
      if (refused) assert.throws(() => verifyCase(sigstore, bundle, from));
      else verifyCase(sigstore, bundle, from);
    },
  );
}

Deno.test("DOC-07 the real bundles of sigstore-js are accepted", async () => {
  const sigstore = await loadSigstore();
  const material = materialOf(sigstore, {});
  const folder = new URL("sigstore_js/", FIXTURES);
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name);
  assert.equal(files.length, 9);
  for (const file of files) {
    const bundle = sigstore.bundle.bundleFromJSON(
      JSON.parse(text(`sigstore_js/${file}`)),
    );
    const now = new Date();
    const signer = verifySigstoreBundle(sigstore, bundle, { material, now });
    assert.ok(signer.identity, file);
  }
});
