/** Bundles for `doctor`: signed by a local stack, whole or damaged. */
import type { JsonObject } from "../../../schema/json.ts";
import type { Manifest } from "../../../schema/manifest.ts";
import { composeBundle } from "../../../packer/compose.ts";
import { buildStatement, manifestBytes } from "../../../packer/content.ts";
import { concat } from "../../../packer/digest.ts";
import { memoryEntry } from "../../../packer/entry.ts";
import type { BundleEntry, Target } from "../../../packer/types.ts";
import { writeZip } from "../../../packer/zip/writer.ts";
import {
  type ForgedSignature,
  type ForgeOptions,
  forgeSignature,
} from "../../support/signing_stack/forge.ts";
import type { SigningStack } from "../../support/signing_stack/stack.ts";
import { authorFiles, MANIFEST } from "./plugin.ts";

/** What a bundle is made of and how it is wrong. */
export interface BundleOptions {
  readonly target?: Target;
  /** Members of the manifest to change, before signing. */
  readonly manifest?: JsonObject;
  /** Author's files to add or replace, before signing. */
  readonly files?: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>;
  readonly bridge?: BundleEntry;
  /** Changes to the tree that are then signed. */
  readonly beforeSigning?: Edit;
  /** Changes that are not covered by the signature. */
  readonly afterSigning?: Edit;
  /** How it is signed; `null` leaves the signature out. */
  readonly forge?: Partial<ForgeOptions> | null;
  /** Replaces the signature. */
  readonly signature?: unknown;
}

/** Changes entries by path. */
export type Edit = (entries: Map<string, BundleEntry>) => void | Promise<void>;

/** A bundle's parts. */
export interface MadeBundle {
  readonly entries: readonly BundleEntry[];
  readonly manifestPath: string;
  readonly manifest: JsonObject;
  readonly statement: Uint8Array;
}

/** Composes, signs and edits a tree. */
export async function makeBundle(
  stack: SigningStack,
  options: BundleOptions = {},
): Promise<MadeBundle> {
  const composed = await composeBundle({
    manifest: { ...MANIFEST, ...options.manifest } as Manifest,
    files: await authorFiles(options.files),
    target: options.target ?? "claude-code",
    ...(options.bridge && { bridge: options.bridge }),
  });
  const entries = new Map(composed.entries.map((entry) => [entry.path, entry]));
  await options.beforeSigning?.(entries);
  const statement = await buildStatement({
    ...composed,
    entries: [...entries.values()],
  });
  const signature = await signatureFor(stack, statement, options);
  const manifest = signature === undefined
    ? composed.manifest
    : { ...composed.manifest, signature } as JsonObject;
  const { manifestPath } = composed;
  entries.set(
    manifestPath,
    await memoryEntry(manifestPath, manifestBytes(manifest)),
  );
  await options.afterSigning?.(entries);
  return { entries: [...entries.values()], manifestPath, manifest, statement };
}

async function signatureFor(
  stack: SigningStack,
  payload: Uint8Array,
  { forge, signature }: BundleOptions,
): Promise<ForgedSignature | unknown> {
  if (signature !== undefined) return signature;
  if (forge === null) return undefined;
  return await forgeSignature(stack, { payload, ...forge });
}

/** The archive of these entries as the packer writes it. */
export async function zipOf(
  entries: Iterable<BundleEntry>,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  await writeZip(entries, {
    write: (bytes) => {
      chunks.push(bytes.slice());
      return Promise.resolve();
    },
  });
  return concat(chunks);
}

/** Makes a bundle and writes its archive. */
export async function makeArchive(
  stack: SigningStack,
  options: BundleOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  return await zipOf((await makeBundle(stack, options)).entries);
}

/** Sets one file of a tree. */
export function put(
  path: string,
  content: string | Uint8Array<ArrayBuffer>,
  mode: 0o644 | 0o755 = 0o644,
): Edit {
  return async (entries) => {
    entries.set(path, await memoryEntry(path, content, mode));
  };
}
