/**
 * Reads an archive's directory without inflating anything, and refuses every
 * archive in which two readers could see two different things.
 *
 * Source: PKWARE APPNOTE §4.3.
 */
import { display } from "../display.ts";
import { comparePaths } from "../entry.ts";
import type { ArchiveLimits } from "../limits.ts";
import { findCollisions, pathFault } from "../path.ts";
import * as format from "./format.ts";
import type { ArchiveSource } from "./source.ts";
import { locateEnd } from "./end_record.ts";
import type { ZipFinding, ZipVerdict } from "./verdict.ts";

export { display };

/** An entry as the directory declares it: claims, until it is inflated. */
export interface ZipEntry {
  readonly path: string;
  readonly mode: 0o644 | 0o755;
  /** Bytes when inflated. */
  readonly size: number;
  readonly compressedSize: number;
  readonly crc32: number;
  /** Where the compressed data starts. */
  readonly dataOffset: number;
}

/** A directory, or what is wrong with it: entries only if there are no findings. */
export interface ZipDirectory {
  readonly findings: readonly ZipFinding[];
  /** In the order of the archive, which is that of the paths' UTF-8 bytes. */
  readonly entries: readonly ZipEntry[];
}

interface CentralHeader {
  readonly versionMadeBy: number;
  readonly versionNeeded: number;
  readonly flags: number;
  readonly method: number;
  readonly dos: number;
  readonly crc32: number;
  readonly compressedSize: number;
  readonly size: number;
  readonly name: Uint8Array<ArrayBuffer>;
  readonly extraBytes: number;
  readonly commentBytes: number;
  readonly disk: number;
  readonly internal: number;
  readonly external: number;
  readonly localOffset: number;
  /** The header's own place. */
  readonly at: number;
}

/** Reads and judges the directory of an archive. */
export async function readDirectory(
  source: ArchiveSource,
  limits: ArchiveLimits,
): Promise<ZipDirectory> {
  const end = await locateEnd(source, limits);
  if ("code" in end) return refused([end]);
  const bytes = await source.read(end.directoryOffset, end.directoryBytes);
  const headers = parseHeaders(bytes, end.directoryOffset, end.entries);
  if ("code" in headers) return refused([headers]);
  const findings: ZipFinding[] = [];
  const named = headers.map((header) => judge(header, findings));
  if (findings.length === 0) judgeNames(named, findings);
  if (findings.length === 0) judgeSizes(named, limits, findings);
  if (findings.length > 0) return refused(findings.slice(0, MAX_FINDINGS));
  return await judgePlaces(source, named, end.directoryOffset);
}

function refused(findings: readonly ZipFinding[]): ZipDirectory {
  return { findings, entries: [] };
}

function parseHeaders(
  bytes: Uint8Array<ArrayBuffer>,
  base: number,
  count: number,
): CentralHeader[] | ZipFinding {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headers: CentralHeader[] = [];
  let at = 0;
  for (let i = 0; i < count; i++) {
    const header = parseHeader(view, bytes, at, base);
    if (header === undefined) {
      return {
        code: "ZIP_UNREADABLE",
        message: `Cannot read the directory: header ${
          i + 1
        } of ${count} is damaged or cut off`,
        offset: base + at,
      };
    }
    headers.push(header);
    at += format.CENTRAL_BYTES + header.name.length + header.extraBytes +
      header.commentBytes;
  }
  if (at === bytes.length) return headers;
  return {
    code: "ZIP_GAP",
    message: `The directory holds ${
      bytes.length - at
    } bytes more than its ${count} headers`,
    offset: base + at,
  };
}

function parseHeader(
  view: DataView,
  bytes: Uint8Array<ArrayBuffer>,
  at: number,
  base: number,
): CentralHeader | undefined {
  if (at + format.CENTRAL_BYTES > bytes.length) return undefined;
  const u16 = (offset: number) => view.getUint16(at + offset, true);
  const u32 = (offset: number) => view.getUint32(at + offset, true);
  if (u32(0) !== format.CENTRAL_SIGNATURE) return undefined;
  const nameEnd = at + format.CENTRAL_BYTES + u16(28);
  if (nameEnd + u16(30) + u16(32) > bytes.length) return undefined;
  return {
    versionMadeBy: u16(4),
    versionNeeded: u16(6),
    flags: u16(8),
    method: u16(10),
    dos: u32(12),
    crc32: u32(16),
    compressedSize: u32(20),
    size: u32(24),
    name: bytes.subarray(at + format.CENTRAL_BYTES, nameEnd),
    extraBytes: u16(30),
    commentBytes: u16(32),
    disk: u16(34),
    internal: u16(36),
    external: u32(38),
    localOffset: u32(42),
    at: base + at,
  };
}

interface NamedHeader extends CentralHeader {
  readonly path: string;
}

function judge(header: CentralHeader, findings: ZipFinding[]): NamedHeader {
  const { path, fault } = decodeName(header.name);
  const add = (code: ZipVerdict, message: string): void => {
    findings.push({ code, message, path: display(path), offset: header.at });
  };
  const quoted = `"${display(path)}"`;
  if ((header.flags & format.FLAGS_ENCRYPTED) !== 0) {
    add("ZIP_ENCRYPTED", `Entry ${quoted} is encrypted`);
  } else if (header.extraBytes + header.commentBytes !== 0) {
    add("ZIP_EXTRA_FIELD", `Entry ${quoted} has an extra field or a comment`);
  } else if (path.endsWith("/")) {
    add("ZIP_NOT_CANONICAL", `Entry ${quoted} is a folder of its own`);
  } else if (fault !== undefined) {
    add("PATH_ILLEGAL", `Entry ${quoted} has an illegal path: ${fault}`);
  } else if (modeOf(header) === undefined) {
    add(
      "ZIP_MODE",
      `Entry ${quoted} is not a plain file of mode 0644 or 0755: its attributes are 0x${
        header.external.toString(16).padStart(8, "0")
      }`,
    );
  } else {
    const field = foreignField(header);
    if (field !== undefined) {
      add("ZIP_NOT_CANONICAL", `Entry ${quoted} has ${field}`);
    }
  }
  return { ...header, path };
}

function decodeName(
  name: Uint8Array<ArrayBuffer>,
): { path: string; fault: string | undefined } {
  try {
    const path = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(name);
    return { path, fault: pathFault(path) };
  } catch {
    return {
      path: new TextDecoder("latin1").decode(name),
      fault: "it is not UTF-8",
    };
  }
}

function modeOf(
  { versionMadeBy, external }: CentralHeader,
): 0o644 | 0o755 | undefined {
  if (versionMadeBy >> 8 !== format.VERSION_MADE_BY >> 8) return undefined;
  if (external === format.MODE_FILE * 0x10000) return 0o644;
  if (external === format.MODE_PROGRAM * 0x10000) return 0o755;
  return undefined;
}

// Names the first field that our writer would have written otherwise.
function foreignField(header: CentralHeader): string | undefined {
  if (header.method !== format.METHOD_DEFLATE) {
    return header.method === 0
      ? "stored content instead of deflated"
      : `compression method ${header.method} instead of deflate`;
  }
  if (header.dos !== format.DOS_EPOCH) {
    return "another modification time than 1980-01-01 00:00:00";
  }
  const ascii = header.name.every((byte) => byte < 0x80);
  if (header.flags !== (ascii ? 0 : format.FLAG_UTF8)) {
    return `the flags 0x${header.flags.toString(16).padStart(4, "0")}`;
  }
  if (header.versionMadeBy !== format.VERSION_MADE_BY) {
    return `"made by" ${header.versionMadeBy & 0xff} instead of 20`;
  }
  if (header.versionNeeded !== format.VERSION_NEEDED) {
    return `"version needed" ${header.versionNeeded} instead of 20`;
  }
  if (header.internal !== 0 || header.disk !== 0) {
    return "internal attributes or a disk number";
  }
  return undefined;
}

// A hostile directory may hold thousands of faults: a person reads a few.
const MAX_FINDINGS = 20;

function judgeNames(
  headers: readonly NamedHeader[],
  findings: ZipFinding[],
): void {
  // The last header of each name: for a duplicate, the second one.
  const offsets = new Map(headers.map(({ path, at }) => [path, at]));
  const collisions = findCollisions(headers.map((header) => header.path));
  for (const { path, other, kind } of collisions.slice(0, MAX_FINDINGS)) {
    const offset = offsets.get(path);
    const quoted = `"${display(path)}"`;
    findings.push({
      code: kind === "duplicate" ? "ZIP_DUPLICATE" : "PATH_CASE_COLLISION",
      message: kind === "duplicate"
        ? `Entry ${quoted} is there twice, in headers at offsets ${
          headers.find((header) => header.path === path)?.at
        } and ${offset}`
        : `Entries ${quoted} and "${display(other)}" are one on some systems`,
      path: display(path),
      ...(offset === undefined ? {} : { offset }),
    });
  }
  if (findings.length === 0) judgeOrder(headers, findings);
}

function judgeOrder(
  headers: readonly NamedHeader[],
  findings: ZipFinding[],
): void {
  let before: string | undefined;
  for (const { path, at } of headers) {
    if (before !== undefined && comparePaths(before, path) >= 0) {
      findings.push({
        code: "ZIP_NOT_CANONICAL",
        message: `Entry "${display(path)}" is out of order after "${
          display(before)
        }"`,
        path: display(path),
        offset: at,
      });
      return;
    }
    before = path;
  }
}

// Deflate cannot make more than this many bytes of one.
const MAX_RATIO = 1032;

function judgeSizes(
  headers: readonly NamedHeader[],
  limits: ArchiveLimits,
  findings: ZipFinding[],
): void {
  let total = 0;
  for (const { path, size, compressedSize, at } of headers) {
    total += size;
    const place = { path: display(path), offset: at };
    if (size > limits.entryBytes) {
      findings.push({
        code: "LIMIT_UNPACKED",
        message:
          `Entry "${place.path}" declares ${size} bytes, more than the ${limits.entryBytes} allowed`,
        ...place,
      });
      return;
    }
    if (size > compressedSize * MAX_RATIO) {
      findings.push({
        code: "ZIP_DATA",
        message:
          `Entry "${place.path}" declares ${size} bytes, more than its ${compressedSize} compressed bytes can hold`,
        ...place,
      });
      return;
    }
  }
  if (total <= limits.unpackedBytes) return;
  findings.push({
    code: "LIMIT_UNPACKED",
    message:
      `The entries declare ${total} bytes together, more than the ${limits.unpackedBytes} allowed`,
  });
}

// Every byte before the directory belongs to exactly one entry, in order.
async function judgePlaces(
  source: ArchiveSource,
  headers: readonly NamedHeader[],
  directoryOffset: number,
): Promise<ZipDirectory> {
  const entries: ZipEntry[] = [];
  let expected = 0;
  for (const header of headers) {
    const dataOffset = expected + format.LOCAL_BYTES + header.name.length;
    const finding = header.localOffset === expected
      ? await judgeLocal(source, header)
      : gap(header, expected);
    if (finding !== undefined) return refused([finding]);
    entries.push({
      path: header.path,
      mode: modeOf(header) ?? 0o644,
      size: header.size,
      compressedSize: header.compressedSize,
      crc32: header.crc32,
      dataOffset,
    });
    expected = dataOffset + header.compressedSize;
  }
  if (expected === directoryOffset) return { findings: [], entries };
  return refused([{
    code: "ZIP_GAP",
    message: expected < directoryOffset
      ? `${
        directoryOffset - expected
      } bytes before the directory belong to no entry`
      : "The last entry reaches into the directory",
    offset: expected,
  }]);
}

function gap(header: NamedHeader, expected: number): ZipFinding {
  const path = display(header.path);
  return {
    code: "ZIP_GAP",
    message: header.localOffset > expected
      ? `${
        header.localOffset - expected
      } bytes before entry "${path}" belong to no entry`
      : `Entry "${path}" overlaps the one before it`,
    path,
    offset: expected,
  };
}

async function judgeLocal(
  source: ArchiveSource,
  header: NamedHeader,
): Promise<ZipFinding | undefined> {
  const offset = header.localOffset;
  const bytes = await source.read(
    offset,
    format.LOCAL_BYTES + header.name.length,
  );
  const place = { path: display(header.path), offset };
  const mismatch = (field: string): ZipFinding => ({
    code: "ZIP_LOCAL_MISMATCH",
    message:
      `Entry "${place.path}" has another ${field} in its local header than in the directory`,
    ...place,
  });
  if (bytes.length < format.LOCAL_BYTES + header.name.length) {
    return mismatch("place");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const u16 = (at: number) => view.getUint16(at, true);
  const u32 = (at: number) => view.getUint32(at, true);
  if (u32(0) !== format.LOCAL_SIGNATURE) return mismatch("signature");
  if (u16(28) !== 0) {
    return {
      code: "ZIP_EXTRA_FIELD",
      message: `Entry "${place.path}" has an extra field in its local header`,
      ...place,
    };
  }
  const fields: readonly (readonly [string, number, number])[] = [
    ["version needed", u16(4), header.versionNeeded],
    ["set of flags", u16(6), header.flags],
    ["compression method", u16(8), header.method],
    ["modification time", u32(10), header.dos],
    ["CRC-32", u32(14), header.crc32],
    ["compressed size", u32(18), header.compressedSize],
    ["size", u32(22), header.size],
    ["name", u16(26), header.name.length],
  ];
  for (const [field, local, central] of fields) {
    if (local !== central) return mismatch(field);
  }
  const name = bytes.subarray(format.LOCAL_BYTES);
  return name.every((byte, i) => byte === header.name[i])
    ? undefined
    : mismatch("name");
}
