/** Examining a bundle as a whole process, beside packing the same content. */
import { sign } from "../packer/sign.ts";
import { findIdentityToken } from "../packer/sigstore/identity_token.ts";
import { authorFiles, MANIFEST } from "../tests/doctor/support/plugin.ts";
import { identityToken } from "../tests/support/signing_stack/identity_token.ts";
import { startSigningStack } from "../tests/support/signing_stack/stack.ts";
import type { Bench } from "./row.ts";
import { paired, processMs, ROOT } from "./support.ts";

const RUNS = 15;
const FILES = 50;
const FILE_BYTES = 10_400;

/** A signed plugin's source: prose, so that it compresses like prose. */
async function makeSource(folder: string): Promise<string> {
  const words = "audit persona workflow skill memory plugin manifest bundle";
  const text = (i: number) =>
    `${i} ${words} ${i * 7919 % 4096}\n`.repeat(FILE_BYTES).slice(
      0,
      FILE_BYTES,
    );
  const more = Object.fromEntries(
    Array.from({ length: FILES - 10 }, (_, i) => [`assets/${i}.txt`, text(i)]),
  );
  for (const { path, read } of (await authorFiles(more)).values()) {
    const file = `${folder}/${path}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeFile(file, await read());
  }
  const manifest = `${folder}/acme-trail@1.2.3.plugin.json`;
  await Deno.writeTextFile(manifest, JSON.stringify(MANIFEST, null, 2));
  await signSource(manifest, `${folder}/root.json`);
  return manifest;
}

async function signSource(manifest: string, root: string): Promise<void> {
  const stack = await startSigningStack();
  try {
    const { url, trustedRoot } = stack;
    await sign(manifest, {
      services: { fulcioUrl: url, rekorUrl: url },
      trustedRoots: [{ name: "bench", json: trustedRoot }],
      token: () =>
        findIdentityToken({
          token: identityToken({
            issuer: "https://issuer.example",
            subject: "https://ci.example/",
          }),
          fetch,
          now: new Date(),
        }),
    });
    await Deno.writeTextFile(root, JSON.stringify(trustedRoot));
  } finally {
    await stack.close();
  }
}

/** The program with the permissions that each command needs. */
function program(permissions: readonly string[], args: readonly string[]) {
  const flags = ["run", "--quiet", "--no-prompt", ...permissions];
  return () => processMs(Deno.execPath(), [...flags, `${ROOT}cli.ts`, ...args]);
}

/** Doctor beside pack, both with the same 50 files of 500 KB. */
export const bench: Bench = async (report) => {
  const folder = await Deno.makeTempDir();
  try {
    const manifest = await makeSource(folder);
    const out = `${folder}/out`;
    const pack = program(["--allow-read", "--allow-write"], [
      "pack",
      manifest,
      "--out",
      out,
    ]);
    await pack();
    const doctor = program(["--allow-read"], [
      "doctor",
      `${out}/acme-trail-1.2.3.plugin`,
      "--trusted-root",
      `${folder}/root.json`,
    ]);
    report({
      name: "doctor on 50 files of 500 KB, beside pack of them",
      ...await paired(RUNS, doctor, pack),
      unit: "ms",
      aim: "at most 2×",
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
};
