/** How the validator looks at the files that a manifest declares, wherever they are. */

/** What a name in a folder stands for. */
export type EntryKind = "file" | "directory" | "link" | "other";

/**
 * A folder of files: on disk, collected by the packer, or inside a bundle.
 * Paths are `/`-separated and relative to it; the root is `""`.
 */
export interface DeclaredFiles {
  /**
   * The names in a folder, spelled as they are stored, so that a check can be
   * exact where the disk is not.
   *
   * @returns `undefined` where there is no such folder.
   */
  list(
    folder: string,
  ): Promise<ReadonlyMap<string, EntryKind> | undefined>;
  /** A file's bytes, or the first `maxBytes` of it and one more. */
  read(path: string, maxBytes: number): Promise<Uint8Array>;
}

/** The port over files that are already in memory, by their paths. */
export function filesInMemory(
  files: ReadonlyMap<string, Uint8Array>,
): DeclaredFiles {
  const folders = new Map<string, Map<string, EntryKind>>([["", new Map()]]);
  for (const path of files.keys()) addToFolders(folders, path);
  return {
    list: (folder) => Promise.resolve(folders.get(folder)),
    read: (path, maxBytes) => {
      const bytes = files.get(path);
      return bytes === undefined
        ? Promise.reject(new Error(`No file "${path}"`))
        : Promise.resolve(bytes.subarray(0, maxBytes + 1));
    },
  };
}

function addToFolders(
  folders: Map<string, Map<string, EntryKind>>,
  path: string,
): void {
  const names = path.split("/");
  for (let depth = 0; depth < names.length; depth++) {
    const folder = names.slice(0, depth).join("/");
    const entries = folders.get(folder) ?? new Map<string, EntryKind>();
    folders.set(folder, entries);
    const kind = depth === names.length - 1 ? "file" : "directory";
    entries.set(names[depth] as string, kind);
  }
}
