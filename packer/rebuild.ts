/**
 * Packs the source again with a published bundle's signature and compares: whoever
 * has the source can tell whether the bundle was made from it.
 */
import type { JsonObject } from "../schema/json.ts";
import { composeBundle } from "./compose.ts";
import { findManifestPath } from "./content.ts";
import { collectFiles } from "./disk/collect.ts";
import { Sha256 } from "./digest.ts";
import { openBundle } from "./doctor/open.ts";
import { detectTarget } from "./doctor/target.ts";
import { comparePaths } from "./entry.ts";
import { PackerError } from "./errors.ts";
import { BRIDGE_PATHS } from "./hosts/host.ts";
import { ARCHIVE_LIMITS } from "./limits.ts";
import { loadBridge, requireTarget, signed } from "./pack.ts";
import { isSignature, loadManifest } from "./source.ts";
import type { BundleEntry, Target } from "./types.ts";
import { display } from "./display.ts";
import type { ArchiveSource } from "./zip/source.ts";
import { writeZip } from "./zip/writer.ts";

/** How to rebuild. */
export interface RebuildOptions {
  /** The source's manifest. */
  readonly manifest: string;
  /** Taken from the bundle unless given. */
  readonly target?: string;
  /** The compiled bridge that the bundle takes along. */
  readonly bridge?: string;
  /** Stops the work. */
  readonly signal?: AbortSignal;
}

/** The first entry that differs, and how. */
export interface EntryDifference {
  /** In the bundle. */
  readonly path: string;
  /** In which way it differs. */
  readonly kind: "only-in-bundle" | "only-in-source" | "mode" | "content";
  /** A sentence without a full stop. */
  readonly message: string;
}

/** What the comparison gave. */
export interface RebuildResult {
  /** Whether the bytes are the same. */
  readonly equal: boolean;
  /** SHA-256 of the published file, lower-case hex. */
  readonly bundle_sha256: string;
  /** SHA-256 of what packing the source gives, lower-case hex. */
  readonly rebuilt_sha256: string;
  /** The host. */
  readonly target: Target;
  /** In the order of paths; absent where only the archive around the content differs. */
  readonly difference?: EntryDifference;
  /** Entries that differ in all. */
  readonly differences: number;
}

/**
 * Rebuilds a bundle and compares it.
 *
 * @throws {PackerError} What `pack` throws, and `BUNDLE_UNREADABLE` for a bundle
 * that no packer of ours wrote; `cause` then holds the finding.
 */
export async function rebuild(
  bundlePath: string,
  options: RebuildOptions,
): Promise<RebuildResult> {
  const opened = await openBundle(bundlePath);
  try {
    if (opened.findings.length > 0) throw foreign(bundlePath, opened.findings);
    const { source, entries } = opened;
    if (source === undefined) throw folder(bundlePath);
    return await compare(bundlePath, source, entries, options);
  } finally {
    opened.close();
  }
}

function foreign(
  path: string,
  [finding]: readonly { readonly code: string; readonly message: string }[],
): PackerError {
  return new PackerError(
    "BUNDLE_UNREADABLE",
    `Cannot rebuild "${path}": ${finding?.message} (${finding?.code})`,
    { hint: `Run: cyberos-plugin doctor ${path}` },
  );
}

function folder(path: string): PackerError {
  return new PackerError(
    "BUNDLE_UNREADABLE",
    `Cannot rebuild "${path}": it is a folder`,
    { hint: "Give the bundle file as it was published" },
  );
}

async function compare(
  bundlePath: string,
  source: ArchiveSource,
  published: readonly BundleEntry[],
  options: RebuildOptions,
): Promise<RebuildResult> {
  const manifest = await readManifest(bundlePath, published);
  const target = options.target === undefined
    ? detectTarget(published, manifest)
    : requireTarget(options.target);
  const ours = await compose(manifest, target, options);
  const rebuilt = await writeZip(ours, { write: () => Promise.resolve() }, {
    ...(options.signal && { signal: options.signal }),
  });
  const bundleSha256 = await digest(source);
  const differences = [...differ(published, ours)];
  const [first] = differences;
  return {
    equal: rebuilt.sha256 === bundleSha256,
    bundle_sha256: bundleSha256,
    rebuilt_sha256: rebuilt.sha256,
    target,
    ...(first === undefined
      ? {}
      : { difference: await describe(first, published, ours) }),
    differences: differences.length,
  };
}

async function readManifest(
  bundlePath: string,
  published: readonly BundleEntry[],
): Promise<JsonObject> {
  const path = findManifestPath(published.map((entry) => entry.path));
  const entry = published.find((entry) => entry.path === path);
  try {
    const value: unknown = JSON.parse(
      new TextDecoder().decode(await entry?.read()),
    );
    if (typeof value === "object" && value !== null) return value as JsonObject;
  } catch {
    // Said below.
  }
  throw new PackerError(
    "BUNDLE_UNREADABLE",
    `Cannot rebuild "${bundlePath}": it has no readable manifest`,
    { hint: `Run: cyberos-plugin doctor ${bundlePath}` },
  );
}

async function compose(
  published: JsonObject,
  target: Target,
  options: RebuildOptions,
): Promise<readonly BundleEntry[]> {
  const loaded = await loadManifest(options.manifest);
  const { files } = await collectFiles(loaded.folder, loaded.manifest, {
    limits: ARCHIVE_LIMITS,
    ...(options.signal && { signal: options.signal }),
  });
  const bridge = await loadBridge(options.bridge);
  const { signature } = published;
  const { entries } = await composeBundle({
    // What no packer takes for a signature is left out, and so is seen to differ.
    manifest: isSignature(signature)
      ? signed(loaded.manifest, signature)
      : loaded.manifest,
    files,
    target,
    ...(bridge && { bridge: bridge.entry }),
  });
  return entries;
}

async function digest(source: ArchiveSource): Promise<string> {
  const hash = new Sha256();
  for (let at = 0; at < source.size; at += 1024 * 1024) {
    await hash.update(await source.read(at, 1024 * 1024));
  }
  return await hash.digest();
}

type Pair = readonly [BundleEntry | undefined, BundleEntry | undefined];

// Both sides are sorted by path: one walk along both finds what differs.
function* differ(
  published: readonly BundleEntry[],
  ours: readonly BundleEntry[],
): Generator<Pair> {
  for (let i = 0, j = 0; i < published.length || j < ours.length;) {
    const [a, b] = [published[i], ours[j]];
    const order = a === undefined
      ? 1
      : b === undefined
      ? -1
      : comparePaths(a.path, b.path);
    if (order <= 0) i++;
    if (order >= 0) j++;
    if (order < 0) yield [a, undefined];
    else if (order > 0) yield [undefined, b];
    else if (a?.sha256 !== b?.sha256 || a?.mode !== b?.mode) yield [a, b];
  }
}

async function describe(
  [theirs, mine]: Pair,
  published: readonly BundleEntry[],
  ours: readonly BundleEntry[],
): Promise<EntryDifference> {
  if (theirs === undefined || mine === undefined) {
    return describeMissing(theirs, mine, published, ours);
  }
  const { path } = mine;
  if (theirs.sha256 === mine.sha256) {
    return {
      path,
      kind: "mode",
      message: `"${path}" has mode ${
        theirs.mode.toString(8)
      } in the bundle and ${mine.mode.toString(8)} from the source`,
    };
  }
  return {
    path,
    kind: "content",
    message: `"${path}" differs: ${await firstDifference(theirs, mine)}`,
  };
}

function describeMissing(
  theirs: BundleEntry | undefined,
  mine: BundleEntry | undefined,
  published: readonly BundleEntry[],
  ours: readonly BundleEntry[],
): EntryDifference {
  const path = theirs?.path ?? mine?.path ?? "";
  const kind = theirs === undefined ? "only-in-source" : "only-in-bundle";
  const place = theirs === undefined
    ? "made from the source and not in the bundle"
    : "in the bundle and not made from the source";
  const has = (entries: readonly BundleEntry[]) =>
    entries.some((entry) => BRIDGE_PATHS.includes(entry.path));
  const hint = has(published) && !has(ours)
    ? "; the bundle takes a bridge along: give that program by --bridge"
    : "";
  return { path, kind, message: `"${display(path)}" is ${place}${hint}` };
}

async function firstDifference(
  theirs: BundleEntry,
  mine: BundleEntry,
): Promise<string> {
  const [a, b] = [await theirs.read(), await mine.read()];
  const length = Math.min(a.length, b.length);
  let at = 0;
  while (at < length && a[at] === b[at]) at++;
  let line = 1;
  for (let i = 0; i < at; i++) if (a[i] === 10) line++;
  const sizes = a.length === b.length
    ? `both have ${a.length} bytes`
    : `the bundle has ${a.length} bytes, the source gives ${b.length}`;
  return `first at byte ${at}, line ${line}; ${sizes}`;
}
