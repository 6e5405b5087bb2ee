/** Looks at an archive on its own, without a line of the product's reader. */
import { inflateRawSync } from "node:zlib";

/** What the directory says of an entry, with its content. */
export interface Listed {
  readonly path: string;
  /** Unix mode and type. */
  readonly mode: number;
  /** DOS time and date in one number. */
  readonly dos: number;
  readonly text: string;
}

/** The entries in the order of the directory. */
export function listArchive(bytes: Uint8Array): Listed[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length - 22;
  const listed: Listed[] = [];
  let at = view.getUint32(end + 16, true);
  for (let i = 0; i < view.getUint16(end + 10, true); i++) {
    const nameBytes = view.getUint16(at + 28, true);
    const offset = view.getUint32(at + 42, true);
    const data = offset + 30 + view.getUint16(offset + 26, true) +
      view.getUint16(offset + 28, true);
    const size = view.getUint32(at + 20, true);
    listed.push({
      path: decode(bytes.subarray(at + 46, at + 46 + nameBytes)),
      mode: view.getUint32(at + 38, true) >>> 16,
      dos: view.getUint32(at + 12, true),
      text: decode(inflateRawSync(bytes.subarray(data, data + size))),
    });
    at += 46 + nameBytes + view.getUint16(at + 30, true) +
      view.getUint16(at + 32, true);
  }
  return listed;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** The files of an archive by path. */
export async function readArchive(path: string): Promise<Map<string, string>> {
  const listed = listArchive(await Deno.readFile(path));
  return new Map(listed.map(({ path, text }) => [path, text]));
}
