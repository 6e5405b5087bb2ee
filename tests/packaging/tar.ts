/** Reads the plain tar archives that `deno publish` writes. */

/** One regular file. */
export interface TarFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const BLOCK = 512;

/** All regular files, in order; GNU long names are understood. */
export function readTar(archive: Uint8Array): TarFile[] {
  const files: TarFile[] = [];
  const text = (from: number, length: number) =>
    new TextDecoder().decode(archive.subarray(from, from + length))
      .replace(/\0[\s\S]*$/, "");
  let longName: string | undefined;
  for (let at = 0; at + BLOCK <= archive.length && archive[at] !== 0;) {
    const size = parseInt(text(at + 124, 12).trim(), 8);
    const type = text(at + 156, 1);
    const body = at + BLOCK;
    const prefix = text(at + 345, 155);
    const name = longName ??
      (prefix === "" ? text(at, 100) : `${prefix}/${text(at, 100)}`);
    longName = type === "L" ? text(body, size) : undefined;
    if (type === "0" || type === "") {
      files.push({ path: name, bytes: archive.slice(body, body + size) });
    }
    at = body + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
