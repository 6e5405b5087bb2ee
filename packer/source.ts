/** Loads a plugin's manifest, and the signature that belongs to a bundle of it. */
import { validateDeclaredFiles } from "../schema/files/mod.ts";
import type { DeclaredFiles, EntryKind } from "../schema/files/port.ts";
import type { Finding } from "../schema/finding.ts";
import type { Manifest, ManifestSignature } from "../schema/manifest.ts";
import {
  type JsonDocument,
  MANIFEST_LIMITS,
} from "../schema/strict_json/mod.ts";
import { validateManifest } from "../schema/validate.ts";
import { type BundleIdentity, signatureFileName } from "./bundle_name.ts";
import { reasonOf } from "./disk/read.ts";
import { InvalidManifestError, PackerError } from "./errors.ts";
import type { BundleEntry } from "./types.ts";

/** A manifest that keeps its contract, but for its signature. */
export interface LoadedManifest {
  readonly path: string;
  /** The folder that its paths are relative to. */
  readonly folder: string;
  /** Without the signature. */
  readonly manifest: Omit<Manifest, "signature">;
  /** Its `signature` member, whatever it is. */
  readonly signature: unknown;
  /** Warnings only. */
  readonly findings: readonly Finding[];
  /** The text with its places. */
  readonly document: JsonDocument;
}

// What pack calls an absent, an empty and a placeholder signature by its own names.
const OWN_ERRORS: ReadonlySet<string> = new Set([
  "required",
  "type",
  "minLength",
  "signature_form",
]);

/**
 * Reads and validates a manifest. That it is not signed is no finding here: `pack`
 * has errors of its own for that.
 *
 * @throws {InvalidManifestError} With all findings.
 * @throws {PackerError} `MANIFEST_UNREADABLE`.
 */
export async function loadManifest(path: string): Promise<LoadedManifest> {
  const bytes = await readSmall(path, MANIFEST_LIMITS.maxBytes);
  const { findings, document } = await validateManifest(bytes);
  const relevant = findings.filter(({ json_pointer, constraint }) =>
    !(/^\/signature(\/|$)/.test(json_pointer) && OWN_ERRORS.has(constraint))
  );
  refuseErrors(path, relevant);
  const { signature, ...manifest } = document.value as unknown as Manifest;
  return {
    path,
    folder: folderOf(path),
    manifest,
    signature,
    findings: relevant,
    document,
  };
}

function refuseErrors(path: string, findings: readonly Finding[]): void {
  const errors = findings.filter(({ severity }) => severity === "error").length;
  if (errors === 0) return;
  throw new InvalidManifestError(
    `Cannot pack "${path}": validation found ${errors} ${
      errors === 1 ? "error" : "errors"
    }`,
    findings,
    { hint: `Run: cyberos-plugin validate ${path}` },
  );
}

/**
 * Checks the commands and skills that a manifest declares, once they are collected.
 *
 * @returns Warnings.
 * @throws {InvalidManifestError} With all findings.
 */
export async function checkFiles(
  { path, document }: LoadedManifest,
  files: ReadonlyMap<string, BundleEntry>,
): Promise<readonly Finding[]> {
  const findings = await validateDeclaredFiles(document, collected(files));
  refuseErrors(path, findings);
  return findings;
}

function collected(files: ReadonlyMap<string, BundleEntry>): DeclaredFiles {
  const folders = new Map<string, Map<string, EntryKind>>([["", new Map()]]);
  for (const path of files.keys()) {
    const names = path.split("/");
    for (let depth = 0; depth < names.length; depth++) {
      const folder = names.slice(0, depth).join("/");
      const items = folders.get(folder) ?? new Map<string, EntryKind>();
      folders.set(folder, items);
      const kind = depth === names.length - 1 ? "file" : "directory";
      items.set(names[depth] as string, kind);
    }
  }
  return {
    list: (folder) => Promise.resolve(folders.get(folder)),
    async read(path, maxBytes) {
      const bytes = await files.get(path)?.read();
      return (bytes ?? new Uint8Array(0)).subarray(0, maxBytes + 1);
    },
  };
}

/** The folder of a file, as it was written. */
export function folderOf(path: string): string {
  const end = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return end < 0 ? "." : path.slice(0, end) || "/";
}

async function readSmall(
  path: string,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // Looked at before it is opened: opening a pipe would wait for a writer.
    const { size, isFile } = await Deno.stat(path);
    if (!isFile) throw unreadable(path, "it is not a plain file");
    using file = await Deno.open(path, { read: true });
    // One more byte than is allowed lets the reader see that it is too long.
    const bytes = new Uint8Array(Math.min(size, maxBytes + 1));
    let at = 0;
    while (at < bytes.length) {
      const count = await file.read(bytes.subarray(at));
      if (count === null) break;
      at += count;
    }
    return bytes.subarray(0, at);
  } catch (cause) {
    throw cause instanceof PackerError
      ? cause
      : unreadable(path, reasonOf(cause), cause);
  }
}

function unreadable(
  path: string,
  reason: string,
  cause?: unknown,
): PackerError {
  return new PackerError(
    "MANIFEST_UNREADABLE",
    `Cannot read "${path}": ${reason}`,
    { cause, hint: "Give the path of a manifest, <id>@<version>.plugin.json" },
  );
}

/** Bytes of a signature file: a Sigstore bundle has about ten thousand. */
const MAX_SIGNATURE_BYTES = 256 * 1024;

/**
 * The signature for a bundle: the manifest's own for the default target, else
 * that of the file beside the manifest.
 *
 * @param file A signature file to take instead.
 * @returns `undefined` where there is none, or an empty one.
 * @throws {PackerError} `SIGNATURE_INVALID` for a file that holds something else.
 */
export async function findSignature(
  { manifest, folder, signature }: LoadedManifest,
  bundle: Omit<BundleIdentity, "id" | "version">,
  file?: string,
): Promise<ManifestSignature | undefined> {
  const name = signatureFileName({ ...manifest, ...bundle });
  if (file === undefined && name === undefined) {
    return isSignature(signature) ? signature : undefined;
  }
  const path = file ?? `${folder}/${name}`;
  if (file === undefined && !await exists(path)) return undefined;
  const value = await readSignature(path);
  return isSignature(value) ? value : undefined;
}

async function readSignature(path: string): Promise<unknown> {
  let text: string;
  try {
    text = new TextDecoder().decode(await readSmall(path, MAX_SIGNATURE_BYTES));
  } catch (cause) {
    throw new PackerError(
      "SIGNATURE_INVALID",
      cause instanceof PackerError
        ? cause.message
        : `Cannot read "${path}": ${reasonOf(cause)}`,
      { cause, hint: "Make a signature file with: cyberos-plugin sign" },
    );
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PackerError(
      "SIGNATURE_INVALID",
      `The signature file "${path}" is not JSON`,
      { cause, hint: "Make it again with: cyberos-plugin sign" },
    );
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

/** Whether these are two texts; half a signature is none: there is nothing that it could prove. */
export function isSignature(value: unknown): value is ManifestSignature {
  if (typeof value !== "object" || value === null) return false;
  const { sigstore_bundle, rekor_uuid } = value as Record<string, unknown>;
  return isText(sigstore_bundle) && isText(rekor_uuid);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" &&
    value.isWellFormed();
}
