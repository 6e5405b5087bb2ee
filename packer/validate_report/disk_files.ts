/** A folder on disk as the validator looks at it. */
import type { DeclaredFiles, EntryKind } from "../../schema/files/port.ts";

/** The port over a folder. Names are taken from listings, so that spelling is exact on every disk. */
export function filesOnDisk(root: string): DeclaredFiles {
  const listings = new Map<
    string,
    Promise<ReadonlyMap<string, EntryKind> | undefined>
  >();
  return {
    list: (folder) => {
      const known = listings.get(folder);
      if (known !== undefined) return known;
      const listing = list(join(root, folder));
      listings.set(folder, listing);
      return listing;
    },
    read: (path, maxBytes) => readAtMost(join(root, path), maxBytes),
  };
}

/** The first `maxBytes` of a file and one more, so that the reader sees that it is larger. */
export async function readAtMost(
  path: string,
  maxBytes: number,
): Promise<Uint8Array> {
  using file = await Deno.open(path, { read: true });
  const { size } = await file.stat();
  // A pipe says that its size is 0.
  const step = Math.min(Math.max(size, 65536), maxBytes) + 1;
  const buffer = new Uint8Array(step);
  const chunks: Uint8Array[] = [];
  let total = 0;
  while (total <= maxBytes) {
    const read = await file.read(buffer);
    if (read === null) break;
    const chunk = buffer.slice(0, Math.min(read, maxBytes + 1 - total));
    chunks.push(chunk);
    total += chunk.length;
  }
  return concat(chunks, total);
}

async function list(
  folder: string,
): Promise<ReadonlyMap<string, EntryKind> | undefined> {
  const entries = new Map<string, EntryKind>();
  try {
    for await (const entry of Deno.readDir(folder)) {
      entries.set(entry.name, kindOf(entry));
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
  return entries;
}

function kindOf(entry: Deno.DirEntry): EntryKind {
  if (entry.isSymlink) return "link";
  if (entry.isFile) return "file";
  return entry.isDirectory ? "directory" : "other";
}

function join(root: string, path: string): string {
  return path === "" ? root : `${root}/${path}`;
}

function concat(chunks: readonly Uint8Array[], total: number): Uint8Array {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return only;
  const all = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
