/** Opens what a stranger calls a bundle: an archive or an unpacked folder. */
import { reasonOf } from "../disk/read.ts";
import { PackerError } from "../errors.ts";
import { ARCHIVE_LIMITS, type ArchiveLimits } from "../limits.ts";
import type { BundleEntry } from "../types.ts";
import { readZip } from "../zip/reader.ts";
import { type ArchiveSource, bytesSource } from "../zip/source.ts";
import { readFolder } from "./folder.ts";
import type { DoctorFinding } from "./verdicts.ts";

/** A bundle that was opened, with its entries if the container is sound. */
export interface OpenedBundle {
  readonly kind: "archive" | "folder";
  /** What is wrong with the container; entries are only there without findings. */
  readonly findings: readonly DoctorFinding[];
  readonly entries: readonly BundleEntry[];
  /** The archive's bytes; absent for a folder. */
  readonly source?: ArchiveSource;
  close(): void;
}

/**
 * Opens a bundle for reading; nothing is written and nothing is unpacked.
 *
 * @throws {PackerError} `BUNDLE_UNREADABLE` when the path cannot be read.
 */
export async function openBundle(
  path: string,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<OpenedBundle> {
  try {
    const { isDirectory, isFile } = await Deno.stat(path);
    if (isDirectory) {
      return {
        kind: "folder",
        ...await readFolder(path, limits),
        close() {},
      };
    }
    if (isFile) return await openArchive(path, limits);
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw new PackerError(
    "BUNDLE_UNREADABLE",
    `Cannot read "${path}": it is neither a file nor a folder`,
  );
}

async function openArchive(
  path: string,
  limits: ArchiveLimits,
): Promise<OpenedBundle> {
  const file = await Deno.open(path, { read: true });
  try {
    const onDisk = fileSource(file, (await file.stat()).size);
    const source = onDisk.size > IN_MEMORY_BYTES
      ? onDisk
      : bytesSource(await onDisk.read(0, onDisk.size));
    const { findings, entries } = await readZip(source, limits);
    return {
      kind: "archive",
      findings,
      entries,
      source,
      close: () => file.close(),
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

// Archives up to this size are read once: each read of a file costs more than
// its bytes.
const IN_MEMORY_BYTES = 32 * 1024 * 1024;

function fileSource(file: Deno.FsFile, size: number): ArchiveSource {
  return {
    size,
    async read(offset, length) {
      const wanted = Math.max(0, Math.min(length, size - offset));
      const bytes = new Uint8Array(wanted);
      await file.seek(offset, Deno.SeekMode.Start);
      let at = 0;
      while (at < wanted) {
        const count = await file.read(bytes.subarray(at));
        if (count === null) break;
        at += count;
      }
      return bytes.subarray(0, at);
    },
  };
}

function unreadable(path: string, cause: unknown): unknown {
  if (cause instanceof PackerError) return cause;
  if (!isRefusedBySystem(cause)) return cause;
  return new PackerError(
    "BUNDLE_UNREADABLE",
    `Cannot read "${path}": ${reasonOf(cause)}`,
    {
      cause,
      hint:
        "Give the path of a .plugin or .zip file, or of the folder it was unpacked to",
    },
  );
}

// Anything else is a bug of ours, and said to be one.
function isRefusedBySystem(cause: unknown): boolean {
  const code = (cause as { code?: unknown } | null)?.code;
  return cause instanceof Deno.errors.NotCapable ||
    typeof code === "string" && /^E[A-Z0-9]+$/.test(code);
}
