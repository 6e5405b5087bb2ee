/** Makes archives by hand, each field as a test wants it: also those that no writer would make. */
import { deflateRawSync } from "node:zlib";
import { concat } from "../../../packer/digest.ts";

/** One entry; what is left out is what our writer would write. */
export interface RawEntry {
  readonly name: string | Uint8Array;
  readonly content?: string | Uint8Array;
  /** The bytes between the headers, instead of the deflated content. */
  readonly data?: Uint8Array;
  readonly local?: RawFields;
  readonly central?: RawFields;
  /** Bytes in front of the local header that belong to nothing. */
  readonly before?: Uint8Array;
  /** Leave the entry out of the directory. */
  readonly ghost?: boolean;
}

/** Fields of a header. */
export interface RawFields {
  readonly madeBy?: number;
  readonly needed?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly dos?: number;
  readonly crc?: number;
  readonly compressedSize?: number;
  readonly size?: number;
  readonly name?: string | Uint8Array;
  readonly extra?: Uint8Array;
  readonly comment?: Uint8Array;
  readonly disk?: number;
  readonly internal?: number;
  readonly external?: number;
  readonly offset?: number;
}

/** What surrounds the entries. */
export interface RawEnd {
  readonly comment?: Uint8Array;
  readonly count?: number;
  readonly countHere?: number;
  readonly disk?: number;
  readonly directoryOffset?: number;
  readonly directoryBytes?: number;
  /** Bytes between the last entry and the directory. */
  readonly beforeDirectory?: Uint8Array;
  /** Bytes between the directory and the end record. */
  readonly afterDirectory?: Uint8Array;
  readonly trailing?: Uint8Array;
  readonly prefix?: Uint8Array;
}

/** Bytes of a text. */
export function utf8(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? new TextEncoder().encode(text) : text;
}

/** CRC-32 as zip has it, made here so that no library of the product judges itself. */
export function crc32(bytes: Uint8Array): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc >>> 1) ^ ((crc & 1) === 0 ? 0 : 0xedb88320);
    }
  }
  return ~crc >>> 0;
}

/** An archive of these entries, in this order. */
export function rawZip(
  entries: readonly RawEntry[],
  end: RawEnd = {},
): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [end.prefix ?? new Uint8Array(0)];
  const directory: Uint8Array[] = [];
  let at = end.prefix?.length ?? 0;
  const push = (bytes: Uint8Array) => {
    parts.push(bytes);
    at += bytes.length;
  };
  for (const entry of entries) {
    const content = utf8(entry.content ?? "");
    const data = entry.data ?? deflateRawSync(content, { level: 6 });
    const name = utf8(entry.name);
    const usual: RawFields = {
      flags: name.some((byte) => byte > 127) ? 0x0800 : 0,
      crc: crc32(content),
      compressedSize: data.length,
      size: content.length,
      name,
    };
    push(entry.before ?? new Uint8Array(0));
    const offset = at;
    push(localHeader({ ...usual, ...entry.local }));
    push(data);
    if (entry.ghost !== true) {
      directory.push(centralHeader({ ...usual, offset, ...entry.central }));
    }
  }
  push(end.beforeDirectory ?? new Uint8Array(0));
  const directoryOffset = at;
  const directoryBytes = concat(directory);
  push(directoryBytes);
  push(end.afterDirectory ?? new Uint8Array(0));
  push(
    endRecord(end, directory.length, directoryOffset, directoryBytes.length),
  );
  push(end.trailing ?? new Uint8Array(0));
  return concat(parts);
}

function fields(
  size: number,
  values: readonly (readonly [number, 2 | 4, number])[],
): Uint8Array {
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  for (const [at, width, value] of values) {
    if (width === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
  }
  return bytes;
}

function localHeader(f: RawFields): Uint8Array {
  const [name, extra] = [utf8(f.name ?? ""), f.extra ?? new Uint8Array(0)];
  return concat([
    fields(30, [
      [0, 4, 0x04034b50],
      [4, 2, f.needed ?? 20],
      [6, 2, f.flags ?? 0],
      [8, 2, f.method ?? 8],
      [10, 4, f.dos ?? 0x00210000],
      [14, 4, f.crc ?? 0],
      [18, 4, f.compressedSize ?? 0],
      [22, 4, f.size ?? 0],
      [26, 2, name.length],
      [28, 2, extra.length],
    ]),
    name,
    extra,
  ]);
}

function centralHeader(f: RawFields): Uint8Array {
  const none = new Uint8Array(0);
  const [name, extra, comment] = [
    utf8(f.name ?? ""),
    f.extra ?? none,
    f.comment ?? none,
  ];
  return concat([
    fields(46, [
      [0, 4, 0x02014b50],
      [4, 2, f.madeBy ?? 0x0314],
      [6, 2, f.needed ?? 20],
      [8, 2, f.flags ?? 0],
      [10, 2, f.method ?? 8],
      [12, 4, f.dos ?? 0x00210000],
      [16, 4, f.crc ?? 0],
      [20, 4, f.compressedSize ?? 0],
      [24, 4, f.size ?? 0],
      [28, 2, name.length],
      [30, 2, extra.length],
      [32, 2, comment.length],
      [34, 2, f.disk ?? 0],
      [36, 2, f.internal ?? 0],
      [38, 4, f.external ?? 0o100644 * 0x10000],
      [42, 4, f.offset ?? 0],
    ]),
    name,
    extra,
    comment,
  ]);
}

function endRecord(
  end: RawEnd,
  count: number,
  offset: number,
  size: number,
): Uint8Array {
  const comment = end.comment ?? new Uint8Array(0);
  return concat([
    fields(22, [
      [0, 4, 0x06054b50],
      [4, 2, end.disk ?? 0],
      [6, 2, end.disk ?? 0],
      [8, 2, end.countHere ?? end.count ?? count],
      [10, 2, end.count ?? count],
      [12, 4, end.directoryBytes ?? size],
      [16, 4, end.directoryOffset ?? offset],
      [20, 2, comment.length],
    ]),
    comment,
  ]);
}
