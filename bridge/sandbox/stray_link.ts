/**
 * Permissions compare paths as they are written, so that a symbolic link inside
 * a permitted folder would lead out of it. The sandboxed code cannot make one;
 * what was planted before the start is found here.
 */

const MAX_ENTRIES = 50_000;

/**
 * Looks for a link that leads out of a folder, or nowhere.
 *
 * @param folder An absolute path; a folder that does not exist yet has no links.
 * @returns The link's path below the folder, or `undefined`.
 */
export function strayLink(folder: string): string | undefined {
  let root: string;
  try {
    root = Deno.realPathSync(folder);
  } catch {
    return undefined;
  }
  const waiting = [""];
  for (let seen = 0; waiting.length > 0;) {
    const below = waiting.pop() as string;
    for (const entry of Deno.readDirSync(`${root}/${below}`)) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (++seen > MAX_ENTRIES) return path;
      if (entry.isSymlink && leaves(root, path)) return path;
      if (entry.isDirectory) waiting.push(path);
    }
  }
  return undefined;
}

function leaves(root: string, path: string): boolean {
  try {
    const target = Deno.realPathSync(`${root}/${path}`);
    return !/^[/\\]/.test(target.slice(root.length)) ||
      !target.startsWith(root);
  } catch {
    return true;
  }
}
