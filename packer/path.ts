/**
 * Which paths a bundle may hold: those that mean the same file on every system.
 *
 * Source: PKWARE APPNOTE §4.4.17 and appendix D; Win32 "Naming files, paths and namespaces".
 */

/** UTF-16 units of a path: Windows allows 260 with the folder in front. */
export const MAX_PATH_UNITS = 240;

const DEVICE =
  /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]|clock\$)$/i;
// deno-lint-ignore no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f<>:"|?*\\]/;
// Marks that reorder the text around them, and a byte order mark: a reader would see another name.
const DISGUISE = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd]/;

/**
 * Why a path is illegal in a bundle.
 *
 * @returns The rule in words, or `undefined` for a legal path.
 */
export function pathFault(path: string): string | undefined {
  if (path === "") return "it is empty";
  if (path.length > MAX_PATH_UNITS) {
    return `it is longer than ${MAX_PATH_UNITS} characters`;
  }
  if (!path.isWellFormed()) return "it is not valid Unicode";
  if (path.normalize("NFC") !== path) return "it is not in Unicode form NFC";
  if (path.startsWith("/")) return "it is absolute";
  if (FORBIDDEN.test(path)) {
    return 'it has a control character or one of \\ : * ? " < > |';
  }
  if (DISGUISE.test(path)) {
    return "it has an invisible or replacement character";
  }
  for (const segment of path.split("/")) {
    const fault = segmentFault(segment);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function segmentFault(segment: string): string | undefined {
  if (segment === "") return "it has an empty segment";
  if (segment === "." || segment === "..") {
    return `it has the segment "${segment}"`;
  }
  if (/[. ]$/.test(segment)) {
    return "a segment ends in a dot or a space, which Windows drops";
  }
  if (segment.startsWith(" ")) return "a segment starts with a space";
  const stem = segment.split(".", 1)[0]?.trimEnd() ?? "";
  if (DEVICE.test(stem)) return `"${stem}" is a device name on Windows`;
  return undefined;
}

/**
 * What two paths have in common when some file system takes them for one: the
 * same letters in any case, composed or not.
 */
export function foldPath(path: string): string {
  // Upper first: it spells out what lower case cannot tell apart (ß and SS, ſ and S).
  return path.normalize("NFD").toUpperCase().toLowerCase().normalize("NFC");
}

/** Two paths that cannot both exist everywhere. */
export interface PathCollision {
  readonly path: string;
  readonly other: string;
  readonly kind: "duplicate" | "case" | "file-and-folder";
}

/** Finds paths that are one file, or a file and a folder, on some system. */
export function findCollisions(paths: Iterable<string>): PathCollision[] {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const found: PathCollision[] = [];
  for (const path of paths) {
    const key = foldPath(path);
    const other = files.get(key);
    if (other !== undefined) {
      found.push({ path, other, kind: other === path ? "duplicate" : "case" });
      continue;
    }
    files.set(key, path);
    addFolders(path, key, folders, found);
  }
  for (const [key, path] of files) {
    const folder = folders.get(key);
    if (folder !== undefined) {
      found.push({ path, other: `${folder}/`, kind: "file-and-folder" });
    }
  }
  return found;
}

function addFolders(
  path: string,
  folded: string,
  folders: Map<string, string>,
  found: PathCollision[],
): void {
  let at = path.indexOf("/");
  let end = folded.indexOf("/");
  while (at >= 0 && end >= 0) {
    const folder = path.slice(0, at);
    const key = folded.slice(0, end);
    const other = folders.get(key);
    if (other === undefined) folders.set(key, folder);
    else if (other !== folder) {
      found.push({ path, other: `${other}/`, kind: "case" });
      return;
    }
    at = path.indexOf("/", at + 1);
    end = folded.indexOf("/", end + 1);
  }
}
