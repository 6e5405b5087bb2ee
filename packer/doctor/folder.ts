/** Reads an unpacked bundle by the rules of the archive. */
import { Sha256 } from "../digest.ts";
import { sortEntries } from "../entry.ts";
import { PackerError } from "../errors.ts";
import type { ArchiveLimits } from "../limits.ts";
import { findCollisions, pathFault } from "../path.ts";
import type { BundleEntry } from "../types.ts";
import { display } from "../zip/directory.ts";
import type { DoctorFinding } from "./verdicts.ts";

/** A folder's entries, or what is wrong with it: entries only without findings. */
export interface FolderReading {
  readonly findings: readonly DoctorFinding[];
  readonly entries: readonly BundleEntry[];
}

/** Lists, judges and digests all files under a folder. */
export async function readFolder(
  root: string,
  limits: ArchiveLimits,
): Promise<FolderReading> {
  const paths: string[] = [];
  const findings: DoctorFinding[] = [];
  await walk(root, "", { paths, findings, limits });
  for (const { path, other } of findCollisions(paths)) {
    findings.push({
      code: "PATH_CASE_COLLISION",
      message: `Files "${display(path)}" and "${
        display(other)
      }" are one on some systems`,
      path,
    });
  }
  if (findings.length > 0) return { findings, entries: [] };
  return await digestAll(root, paths, limits);
}

interface Walk {
  readonly paths: string[];
  readonly findings: DoctorFinding[];
  readonly limits: ArchiveLimits;
}

async function walk(root: string, folder: string, to: Walk): Promise<void> {
  for await (const item of Deno.readDir(`${root}/${folder}`)) {
    if (to.findings.length > 0) return;
    const path = folder + item.name;
    const fault = pathFault(path);
    if (fault !== undefined) {
      const message = `"${display(path)}" has an illegal path: ${fault}`;
      to.findings.push({ code: "PATH_ILLEGAL", message, path });
    } else if (item.isDirectory) {
      await walk(root, `${path}/`, to);
    } else if (!item.isFile) {
      const message = `"${display(path)}" is a link or a special file`;
      to.findings.push({ code: "ZIP_MODE", message, path });
    } else if (to.paths.push(path) > to.limits.entries) {
      const message =
        `There are more files than the ${to.limits.entries} allowed`;
      to.findings.push({ code: "LIMIT_ARCHIVE", message });
    }
  }
}

async function digestAll(
  root: string,
  paths: readonly string[],
  limits: ArchiveLimits,
): Promise<FolderReading> {
  const entries: BundleEntry[] = [];
  let total = 0;
  for (const path of paths) {
    const { size, mode } = await Deno.stat(`${root}/${path}`);
    total += size;
    if (size > limits.entryBytes || total > limits.unpackedBytes) {
      const message = `"${display(path)}" makes it larger than is allowed`;
      return {
        findings: [{ code: "LIMIT_UNPACKED", message, path }],
        entries: [],
      };
    }
    entries.push(await folderEntry(root, path, modeOf(path, mode)));
  }
  return { findings: [], entries: sortEntries(entries) };
}

// Where the disk keeps no modes (Windows), the place says what a program is.
function modeOf(path: string, mode: number | null): 0o644 | 0o755 {
  const program = mode === null
    ? path.startsWith("server/")
    : (mode & 0o100) !== 0;
  return program ? 0o755 : 0o644;
}

async function folderEntry(
  root: string,
  path: string,
  mode: 0o644 | 0o755,
): Promise<BundleEntry> {
  const hash = new Sha256();
  let size = 0;
  using file = await Deno.open(`${root}/${path}`, { read: true });
  const buffer = new Uint8Array(256 * 1024);
  for (
    let count = await file.read(buffer);
    count !== null;
    count = await file.read(buffer)
  ) {
    await hash.update(buffer.subarray(0, count));
    size += count;
  }
  const sha256 = await hash.digest();
  const read = () => readUnchanged(`${root}/${path}`, path, sha256);
  return { path, mode, size, sha256, read };
}

async function readUnchanged(
  file: string,
  path: string,
  sha256: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await Deno.readFile(file);
  const hash = new Sha256();
  await hash.update(bytes);
  if (await hash.digest() === sha256) return bytes;
  throw new PackerError(
    "ENTRY_CHANGED",
    `"${display(path)}" changed while the bundle was examined`,
  );
}
