/**
 * What a signature covers: the bundle's content, not the archive's bytes, because
 * the signature lies inside the archive.
 *
 * Source: in-toto Statement v1; RFC 8785.
 */
import canonicalize from "canonicalize";
import type { JsonObject } from "../schema/json.ts";
import { sha256Hex } from "./digest.ts";
import { sortEntries } from "./entry.ts";
import type { BundleEntry, Target } from "./types.ts";

/** The `predicateType` of our statement. */
export const PREDICATE_TYPE =
  "https://cyberskill.world/attestation/plugin-content/v1";

/** Where the canonical manifest lies in bundles for hosts that do not look at the root's `plugin.json`. */
export const ROOT_MANIFEST_PATH = "plugin.json";

/** Where it lies in bundles for hosts that would take the root's `plugin.json` for their own. */
export const NESTED_MANIFEST_PATH = "cyberos/plugin.json";

/**
 * Where the canonical manifest is in a bundle of these paths: the nested place if
 * there is one, else the root.
 *
 * @returns `undefined` where the bundle has none.
 */
export function findManifestPath(paths: Iterable<string>): string | undefined {
  let root: string | undefined;
  for (const path of paths) {
    if (path === NESTED_MANIFEST_PATH) return path;
    if (path === ROOT_MANIFEST_PATH) root = path;
  }
  return root;
}

/**
 * The RFC 8785 bytes of a JSON value.
 *
 * @throws {Error} for what JSON cannot hold: a lone surrogate, a cycle, NaN.
 */
export function canonicalBytes(value: unknown): Uint8Array<ArrayBuffer> {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("Not a JSON value");
  return new TextEncoder().encode(text);
}

/** The bytes of `plugin.json` in every bundle: the manifest in RFC 8785 form, signature included. */
export function manifestBytes(manifest: JsonObject): Uint8Array<ArrayBuffer> {
  return canonicalBytes(manifest);
}

/** SHA-256 of the manifest's RFC 8785 form without `signature`, lower-case hex. */
export function manifestDigest(manifest: JsonObject): Promise<string> {
  const { signature: _, ...unsigned } = manifest;
  return sha256Hex(canonicalBytes(unsigned));
}

/**
 * SHA-256 over one line `<sha256> <mode> <size> <path>\n` for each entry but the
 * manifest, sorted by the UTF-8 bytes of the path; mode in octal as `100644`.
 */
export function contentDigest(
  entries: Iterable<BundleEntry>,
  manifestPath: string,
): Promise<string> {
  const lines = sortEntries(entries)
    .filter(({ path }) => path !== manifestPath)
    .map(({ sha256, mode, size, path }) =>
      `${sha256} ${(0o100000 | mode).toString(8)} ${size} ${path}\n`
    );
  return sha256Hex(new TextEncoder().encode(lines.join("")));
}

/** A bundle's content, as a host's tree. */
export interface BundleContent {
  /** The host. */
  readonly target: Target;
  /** The manifest, with or without its signature. */
  readonly manifest: JsonObject;
  /** Every file, the canonical manifest included. */
  readonly entries: readonly BundleEntry[];
  /** Which of the entries is the canonical manifest. */
  readonly manifestPath: string;
}

/** The statement that is signed: RFC 8785 bytes of an in-toto Statement v1. */
export async function buildStatement(
  content: BundleContent,
): Promise<Uint8Array<ArrayBuffer>> {
  const { manifest, target, entries, manifestPath } = content;
  const contents = await contentDigest(entries, manifestPath);
  return canonicalBytes({
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: manifest.id, digest: { sha256: contents } }],
    predicateType: PREDICATE_TYPE,
    predicate: {
      name: manifest.id,
      version: manifest.version,
      target,
      // Those that contents_sha256 covers: all but the manifest.
      file_count: entries.filter(({ path }) => path !== manifestPath).length,
      contents_sha256: contents,
      manifest_sha256: await manifestDigest(manifest),
    },
  });
}
