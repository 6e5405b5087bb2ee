/**
 * `deno task sign:dev`: really signs the manifests of this repository for every
 * host, under a Sigstore of its own whose keys end with this process, and stores
 * the root that vouches for exactly these signatures.
 *
 * Run it again after every change of `manifests/` and commit what it writes.
 */
import { fileURLToPath } from "node:url";
import type { Manifest } from "../schema/manifest.ts";
import { findIdentityToken } from "../packer/sigstore/identity_token.ts";
import { sign } from "../packer/sign.ts";
import { TARGETS } from "../packer/types.ts";
import { identityToken } from "../tests/support/signing_stack/identity_token.ts";
import {
  type SigningStack,
  startSigningStack,
} from "../tests/support/signing_stack/stack.ts";

const MANIFESTS = new URL("../manifests/", import.meta.url);
const TRUST = new URL("../packer/trust/", import.meta.url);

// `.invalid` can never be a real host: nobody can obtain such an identity.
const SIGNER = {
  subject: "https://cyberos.invalid/development-signing",
  issuer: "https://issuer.cyberos.invalid",
};

async function signManifest(
  stack: SigningStack,
  file: URL,
): Promise<readonly string[]> {
  const { targets } = JSON.parse(await Deno.readTextFile(file)) as Manifest;
  const uuids: string[] = [];
  for (const target of TARGETS.filter((name) => targets.includes(name))) {
    const { written, rekor_uuid } = await sign(fileURLToPath(file), {
      target,
      services: { fulcioUrl: stack.url, rekorUrl: stack.url },
      trustedRoots: [{ name: "this run", json: stack.trustedRoot }],
      token: () =>
        findIdentityToken({
          token: identityToken(SIGNER),
          fetch,
          now: new Date(),
        }),
    });
    const name = written.slice(written.lastIndexOf("/") + 1);
    await print(`${target.padEnd(12)} ${name}`);
    uuids.push(rekor_uuid);
  }
  return uuids;
}

async function storeJson(name: string, value: unknown): Promise<void> {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  await Deno.writeTextFile(new URL(name, TRUST), text);
}

async function print(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}

const stack = await startSigningStack({ host: "rekor.cyberos.invalid" });
const entries: string[] = [];
for await (const { name } of Deno.readDir(MANIFESTS)) {
  if (!name.endsWith(".plugin.json")) continue;
  entries.push(...await signManifest(stack, new URL(name, MANIFESTS)));
}
await storeJson("bootstrap_root.json", stack.trustedRoot);
await storeJson("bootstrap_entries.json", entries.toSorted());
await stack.close();
await print(
  `Stored the root and its ${entries.length} log entries; the keys are gone`,
);
// The HTTP client of @sigstore/sign would keep the process for a while.
Deno.exit(0);
