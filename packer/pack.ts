/** Packs a manifest and what it declares into a bundle for one host. */
import type { Finding } from "../schema/finding.ts";
import type { Manifest, ManifestSignature } from "../schema/manifest.ts";
import { PROGRAM_HEAD_BYTES, programPlatform } from "./bridge_program.ts";
import {
  bundleName,
  DEFAULT_TARGET,
  signatureFileName,
} from "./bundle_name.ts";
import { composeBundle, type ComposedBundle } from "./compose.ts";
import { canonicalBytes } from "./content.ts";
import { collectFiles } from "./disk/collect.ts";
import { writeAtomically } from "./disk/output.ts";
import { diskEntry } from "./disk/read.ts";
import { secretContent } from "./disk/secrets.ts";
import { judgeContent } from "./doctor/escapes/content.ts";
import {
  DeferredTargetError,
  PackerError,
  UnknownTargetError,
  UnsignedManifestError,
} from "./errors.ts";
import { BRIDGE_PROGRAM } from "./hosts/host.ts";
import { HOSTS } from "./hosts/mod.ts";
import { ARCHIVE_LIMITS } from "./limits.ts";
import {
  type CheckSignature,
  checkSignature,
  type SignatureCheck,
} from "./signature_check.ts";
import {
  checkFiles,
  findSignature,
  type LoadedManifest,
  loadManifest,
} from "./source.ts";
import {
  type BundleEntry,
  DEFERRED_TARGETS,
  type PackResult,
  type Target,
  TARGETS,
} from "./types.ts";
import { writeZip } from "./zip/writer.ts";

/** How far a long pack is. */
export interface PackProgress {
  /** The source is read first, then written to the bundle. */
  readonly phase: "reading" | "packing";
  /** Files done. */
  readonly files: number;
  /** Known while packing. */
  readonly totalFiles?: number;
  /** Bytes done. */
  readonly bytes: number;
  /** Known while packing. */
  readonly totalBytes?: number;
}

/** Something that the author should know and that stops nothing. */
export type PackNotice =
  | { readonly kind: "unverified"; readonly reason: string }
  | { readonly kind: "left-out"; readonly paths: readonly string[] }
  | { readonly kind: "warnings"; readonly findings: readonly Finding[] };

/** How to pack. Source: TASK-PLUGIN-001 §3. */
export interface PackOptions {
  /** One of {@link TARGETS}; `claude-code` unless given. */
  readonly target?: string;
  /** `dist` unless given; made if it is not there. */
  readonly outDir?: string;
  /** Refuse a manifest without a signature; true unless given. */
  readonly failOnUnsigned?: boolean;
  /** False stamps the entries with the time of packing: for debugging only. */
  readonly reproducible?: boolean;
  /** A compiled bridge to take along. */
  readonly bridge?: string;
  /** A signature file, instead of the one in or beside the manifest. */
  readonly signatureFile?: string;
  /** Refuse a signature that is not a valid one of this content. */
  readonly verify?: boolean;
  /** How a signature is checked; under the built-in trusted roots unless given. */
  readonly checkSignature?: CheckSignature;
  /** Called after each file. */
  readonly onProgress?: (progress: PackProgress) => void;
  /** Called for what is worth a word and stops nothing. */
  readonly onNotice?: (notice: PackNotice) => void;
  /** Stops the work; what was written of the bundle is removed. */
  readonly signal?: AbortSignal;
}

/**
 * Packs a plugin. The same source and signature give the same bytes on every
 * machine; on any error nothing is written.
 *
 * @param manifestPath `<id>@<version>.plugin.json`, with the files that it declares beside it.
 * @throws {UnknownTargetError} {@link DeferredTargetError} {@link UnsignedManifestError}
 * @throws {PackerError} `TARGET_NOT_DECLARED`, `MANIFEST_UNREADABLE`,
 * `MANIFEST_INVALID`, `SIGNATURE_INVALID`, `ENTRY_REFUSED`, `ENTRY_CHANGED`,
 * `ARCHIVE_TOO_LARGE`, `OUTPUT_UNWRITABLE`, `COMPRESSOR_MISMATCH`.
 */
export async function pack(
  manifestPath: string,
  options: PackOptions = {},
): Promise<PackResult> {
  const target = requireTarget(options.target ?? DEFAULT_TARGET);
  const loaded = await loadManifest(manifestPath);
  requireDeclared(loaded, target);
  refuseSecrets(loaded);
  const bridge = await loadBridge(options.bridge);
  const place = { target, ...(bridge && { platform: bridge.platform }) };
  const signature = await findSignature(loaded, place, options.signatureFile);
  if (signature === undefined && options.failOnUnsigned !== false) {
    throw unsigned(loaded, place, options.signatureFile);
  }
  const content = await compose(loaded, { target, bridge, signature }, options);
  const state = await judgeSignature(content, signature, options);
  return await write(content, state, {
    ...options,
    name: bundleName({ ...loaded.manifest, ...place }, state === "unsigned"),
  });
}

/**
 * The target of this name.
 *
 * @throws {DeferredTargetError} For one that is planned.
 * @throws {UnknownTargetError} For any other, listing what exists.
 */
export function requireTarget(name: string): Target {
  const target = TARGETS.find((known) => known === name);
  if (target !== undefined) return target;
  const hint = `Targets: ${TARGETS.join(", ")}`;
  if (DEFERRED_TARGETS.some((known) => known === name)) {
    throw new DeferredTargetError(
      `Cannot pack for "${name}" yet: this version has no bundle format for it`,
      { hint },
    );
  }
  throw new UnknownTargetError(`Unknown target "${name}"`, { hint });
}

function requireDeclared({ manifest, path }: LoadedManifest, target: Target) {
  if (manifest.targets.includes(target)) return;
  throw new PackerError(
    "TARGET_NOT_DECLARED",
    `Cannot pack "${path}" for ${target}: its targets are ${
      manifest.targets.join(", ") || "none"
    }`,
    { hint: `Add "${target}" to "targets", or give --target` },
  );
}

/** @throws {PackerError} `ENTRY_REFUSED` for a manifest that holds a secret. */
export function refuseSecrets({ manifest, path }: LoadedManifest): void {
  const secret = secretContent(canonicalBytes(manifest));
  if (secret === undefined) return;
  throw new PackerError(
    "ENTRY_REFUSED",
    `Cannot pack "${path}": it holds ${secret}`,
    { hint: "Take it out, and treat it as leaked if it was ever published" },
  );
}

function unsigned(
  { path, manifest }: LoadedManifest,
  place: { readonly target: Target; readonly platform?: string },
  given: string | undefined,
): UnsignedManifestError {
  const file = signatureFileName({ ...manifest, ...place });
  return new UnsignedManifestError(
    given !== undefined
      ? `Cannot pack "${path}": there is no signature in "${given}"`
      : file === undefined
      ? `Cannot pack "${path}": it has no signature`
      : `Cannot pack "${path}" for ${place.target}: there is no signature in "${file}" beside it`,
    {
      hint:
        `Run: cyberos-plugin sign ${path} --target ${place.target}; or pack with --allow-unsigned to try it out`,
    },
  );
}

interface Bridge {
  readonly entry: BundleEntry;
  readonly platform: string;
}

/** The bridge's program as an entry of the bundle. */
export async function loadBridge(
  file: string | undefined,
): Promise<Bridge | undefined> {
  if (file === undefined) return undefined;
  let platform: string | undefined;
  let extension = "";
  const path = `server/${BRIDGE_PROGRAM}`;
  const maxBytes = ARCHIVE_LIMITS.entryBytes;
  // The path is for messages until the platform is known.
  const read = { file, path: file, mode: 0o755, maxBytes } as const;
  const entry = await diskEntry(read, { bytes: 0 }, (bytes) => {
    const program = programPlatform(bytes.subarray(0, PROGRAM_HEAD_BYTES));
    platform = program?.platform;
    extension = program?.extension ?? "";
  });
  if (platform === undefined) {
    throw new PackerError(
      "ENTRY_REFUSED",
      `Cannot take "${file}" along: it is no compiled program for Linux, macOS or Windows`,
      { hint: "Make one with: deno task compile" },
    );
  }
  return { entry: { ...entry, path: `${path}${extension}` }, platform };
}

interface Parts {
  readonly target: Target;
  readonly bridge: Bridge | undefined;
  readonly signature: ManifestSignature | undefined;
}

async function compose(
  loaded: LoadedManifest,
  { target, bridge, signature }: Parts,
  { onProgress, onNotice, signal }: PackOptions,
): Promise<ComposedBundle> {
  const { manifest, folder } = loaded;
  let [count, size] = [0, 0];
  const { files, leftOut } = await collectFiles(folder, manifest, {
    limits: ARCHIVE_LIMITS,
    judge: escapeReason,
    onFile(_, bytes) {
      count++;
      size += bytes;
      onProgress?.({ phase: "reading", files: count, bytes: size });
    },
    ...(signal && { signal }),
  });
  const findings = [...loaded.findings, ...await checkFiles(loaded, files)];
  if (findings.length > 0) onNotice?.({ kind: "warnings", findings });
  if (leftOut.length > 0) onNotice?.({ kind: "left-out", paths: leftOut });
  return await composeBundle({
    manifest: signature === undefined ? manifest : signed(manifest, signature),
    files,
    target,
    ...(bridge && { bridge: bridge.entry }),
  });
}

/** Why doctor would refuse this file in a bundle: it is refused here, where it can be mended. */
export async function escapeReason(
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string | undefined> {
  const [finding] = await judgeContent({
    path,
    mode: 0o644,
    size: bytes.length,
    sha256: "",
    read: () => Promise.resolve(bytes),
  });
  if (finding === undefined) return undefined;
  // The path is said already.
  const reason = finding.message.replace(/^"[^"]*" /, "it ");
  return `${reason} (${finding.code})`;
}

/** The manifest with exactly the two members: whatever else a signature file holds stays there. */
export function signed(
  manifest: LoadedManifest["manifest"],
  { sigstore_bundle, rekor_uuid }: ManifestSignature,
): Manifest {
  return { ...manifest, signature: { sigstore_bundle, rekor_uuid } };
}

async function judgeSignature(
  content: ComposedBundle,
  signature: ManifestSignature | undefined,
  { checkSignature: check = checkSignature, verify, onNotice }: PackOptions,
): Promise<PackResult["signature"]> {
  if (signature === undefined) return "unsigned";
  const answer: SignatureCheck = await check(content);
  if (answer.valid) return "verified";
  const { reason } = answer;
  if (verify) {
    throw new PackerError(
      "SIGNATURE_INVALID",
      `Cannot pack: the signature is not a valid one of this content: ${reason}`,
      { hint: `Run: cyberos-plugin sign … --target ${content.target}` },
    );
  }
  onNotice?.({ kind: "unverified", reason });
  return "unverified";
}

async function write(
  content: ComposedBundle,
  signature: PackResult["signature"],
  options: PackOptions & { readonly name: string },
): Promise<PackResult> {
  const { entries, target } = content;
  const totalBytes = sumSizes(entries);
  const limits = HOSTS[target].limits ?? ARCHIVE_LIMITS;
  if (entries.length > limits.entries || totalBytes > limits.unpackedBytes) {
    throw tooLarge(target, `${entries.length} files of ${totalBytes} bytes`);
  }
  let [files, bytes] = [0, 0];
  const { path, result } = await writeAtomically(
    options.outDir ?? "dist",
    options.name,
    async (sink) => {
      const written = await writeZip(entries, sink, {
        onEntry({ size }) {
          files++;
          bytes += size;
          const totalFiles = entries.length;
          const progress = { files, totalFiles, bytes, totalBytes };
          options.onProgress?.({ phase: "packing", ...progress });
        },
        ...(options.signal && { signal: options.signal }),
        ...(options.reproducible === false && { debugDate: new Date() }),
      });
      if (written.size > limits.archiveBytes) {
        throw tooLarge(target, `${written.size} bytes`);
      }
      return written;
    },
  );
  return {
    bundle_path: path,
    sha256: result.sha256,
    size_bytes: result.size,
    tools_count: content.toolsCount,
    commands_count: content.commandsCount,
    skills_count: content.skillsCount,
    target,
    signature,
  };
}

function sumSizes(entries: readonly BundleEntry[]): number {
  return entries.reduce((sum, { size }) => sum + size, 0);
}

function tooLarge(target: Target, what: string): PackerError {
  const { archiveBytes, entries } = HOSTS[target].limits ?? ARCHIVE_LIMITS;
  return new PackerError(
    "ARCHIVE_TOO_LARGE",
    `Cannot pack ${what}: a bundle for ${target} has at most ${entries} files and ${archiveBytes} bytes`,
  );
}
