/** Reads one file of the author's, and notices when it changes. */
import { sha256Hex } from "../digest.ts";
import { PackerError } from "../errors.ts";
import type { BundleEntry } from "../types.ts";

/** A file's bytes, brought into the form in which they are packed. */
export type Shape = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;

/** Which file, and what becomes of it. */
export interface DiskFile {
  /** Where it is. */
  readonly file: string;
  /** Its path in the bundle. */
  readonly path: string;
  readonly mode: 0o644 | 0o755;
  readonly maxBytes: number;
  readonly shape?: Shape;
}

// Small files are kept: reading them again would cost more than their memory.
const KEPT_BYTES = 64 * 1024;

/**
 * An entry for a file: digested now, read again when it is packed.
 *
 * @param keep How many bytes may still be kept in memory; it is lowered.
 * @throws {PackerError} `ENTRY_REFUSED`, `ARCHIVE_TOO_LARGE`, `ENTRY_CHANGED`.
 */
export async function diskEntry(
  from: DiskFile,
  keep: { bytes: number },
  judge: (bytes: Uint8Array<ArrayBuffer>) => void | Promise<void> = () => {},
): Promise<BundleEntry> {
  const bytes = await readShaped(from);
  await judge(bytes);
  const { path, mode } = from;
  const sha256 = await sha256Hex(bytes);
  const size = bytes.length;
  if (size > KEPT_BYTES || size > keep.bytes) {
    return { path, mode, size, sha256, read: rereader(from, sha256) };
  }
  keep.bytes -= size;
  return { path, mode, size, sha256, read: () => Promise.resolve(bytes) };
}

// Made apart from the bytes: a closure keeps all that is in its scope.
function rereader(from: DiskFile, sha256: string): BundleEntry["read"] {
  return () => readUnchanged(from, sha256);
}

async function readUnchanged(
  from: DiskFile,
  sha256: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readShaped(from);
  if (await sha256Hex(bytes) === sha256) return bytes;
  throw changed(from.path);
}

async function readShaped(from: DiskFile): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readWhole(from);
  return from.shape === undefined ? bytes : from.shape(bytes);
}

// The file that is opened must be the plain file that is read to its end: what
// was seen in the folder may have been replaced since. Blocking calls take a tenth
// of the time for a file of a few pages, which most are.
async function readWhole(from: DiskFile): Promise<Uint8Array<ArrayBuffer>> {
  const { file, path } = from;
  using handle = openFile(file, path);
  const before = handle.statSync();
  refuseUnfit(from, before);
  const bytes = new Uint8Array(before.size);
  let at = 0;
  while (at < bytes.length) {
    const rest = bytes.subarray(at);
    const count = bytes.length <= BLOCKING_BYTES
      ? handle.readSync(rest)
      : await handle.read(rest);
    if (count === null) break;
    at += count;
  }
  const after = handle.statSync();
  const same = at === bytes.length && after.size === before.size &&
    after.mtime?.getTime() === before.mtime?.getTime();
  if (!same) throw changed(path);
  return bytes;
}

const BLOCKING_BYTES = 1024 * 1024;

function refuseUnfit(
  { path, maxBytes }: DiskFile,
  { isFile, size }: Deno.FileInfo,
): void {
  if (!isFile) throw refuse(path, "it is not a plain file");
  if (size <= maxBytes) return;
  throw new PackerError(
    "ARCHIVE_TOO_LARGE",
    `Cannot pack "${path}": it has ${size} bytes, more than ${maxBytes}`,
  );
}

// Looked at before it is opened: opening a pipe would wait for a writer.
function openFile(file: string, path: string): Deno.FsFile {
  try {
    if (Deno.statSync(file).isFile) return Deno.openSync(file, { read: true });
  } catch (cause) {
    throw refuse(path, reasonOf(cause), cause);
  }
  throw refuse(path, "it is not a plain file");
}

/** The reason of a failed file operation, without the path of this machine. */
export function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "it does not exist";
  if (
    error instanceof Deno.errors.PermissionDenied ||
    error instanceof Deno.errors.NotCapable
  ) return "access to it is not permitted";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder";
  if (error instanceof Deno.errors.NotADirectory) {
    return "a part of its path is not a folder";
  }
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? `the system says ${code}` : "it failed";
}

function refuse(path: string, reason: string, cause?: unknown): PackerError {
  return new PackerError("ENTRY_REFUSED", `Cannot pack "${path}": ${reason}`, {
    cause,
  });
}

function changed(path: string): PackerError {
  return new PackerError(
    "ENTRY_CHANGED",
    `Cannot pack "${path}": it changed while it was read`,
    { hint: "Pack again when nothing writes to the source" },
  );
}
