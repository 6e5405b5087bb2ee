/** Takes a good archive apart and puts it together again, wrong in one place. */
import {
  type RawEnd,
  type RawEntry,
  rawZip,
} from "../../packer/support/raw_zip.ts";

/** The entries of an archive that our writer wrote, with their compressed bytes. */
export function dissect(archive: Uint8Array<ArrayBuffer>): RawEntry[] {
  const view = new DataView(archive.buffer, archive.byteOffset);
  const entries: RawEntry[] = [];
  let at = 0;
  while (view.getUint32(at, true) === 0x04034b50) {
    const [crc, compressedSize, size] = [14, 18, 22].map((offset) =>
      view.getUint32(at + offset, true)
    ) as [number, number, number];
    const nameEnd = at + 30 + view.getUint16(at + 26, true);
    const end = nameEnd + compressedSize;
    const fields = { crc, size };
    entries.push({
      name: archive.slice(at + 30, nameEnd),
      data: archive.slice(nameEnd, end),
      local: fields,
      central: fields,
    });
    at = end;
  }
  return entries;
}

/** The name of a dissected entry. */
export function nameOf({ name }: RawEntry): string {
  return typeof name === "string" ? name : new TextDecoder().decode(name);
}

/** Changes the header fields of one entry, in both places or in one. */
export function patch(
  archive: Uint8Array<ArrayBuffer>,
  name: string,
  change: {
    readonly both?: RawEntry["local"];
    readonly local?: RawEntry["local"];
    readonly central?: RawEntry["local"];
    readonly entry?: Partial<RawEntry>;
  },
  end: RawEnd = {},
): Uint8Array<ArrayBuffer> {
  const entries = dissect(archive).map((entry) =>
    nameOf(entry) !== name ? entry : {
      ...entry,
      ...change.entry,
      local: { ...entry.local, ...change.both, ...change.local },
      central: { ...entry.central, ...change.both, ...change.central },
    }
  );
  return rawZip(entries, end);
}
