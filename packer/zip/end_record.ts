/**
 * Finds the end of central directory record, which must be the archive's last
 * 22 bytes.
 *
 * Source: PKWARE APPNOTE §4.3.16.
 */
import type { ArchiveLimits } from "../limits.ts";
import { CENTRAL_BYTES, END_BYTES, END_SIGNATURE } from "./format.ts";
import type { ArchiveSource } from "./source.ts";
import type { ZipFinding } from "./verdict.ts";

/** Where the directory is, as the end record says. */
export interface EndRecord {
  readonly entries: number;
  readonly directoryOffset: number;
  readonly directoryBytes: number;
}

/** The end record of an archive, or why there is none to trust. */
export async function locateEnd(
  source: ArchiveSource,
  limits: ArchiveLimits,
): Promise<EndRecord | ZipFinding> {
  if (source.size > limits.archiveBytes) {
    return {
      code: "LIMIT_ARCHIVE",
      message:
        `The file has ${source.size} bytes, more than the ${limits.archiveBytes} allowed`,
    };
  }
  const at = source.size - END_BYTES;
  const bytes = at < 0 ? undefined : await source.read(at, END_BYTES);
  if (bytes === undefined || bytes.length < END_BYTES) {
    return await explain(source);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, END_BYTES);
  if (view.getUint32(0, true) !== END_SIGNATURE) return await explain(source);
  return judgeEnd(view, at, limits);
}

function judgeEnd(
  view: DataView,
  at: number,
  limits: ArchiveLimits,
): EndRecord | ZipFinding {
  const u16 = (offset: number) => view.getUint16(offset, true);
  const u32 = (offset: number) => view.getUint32(offset, true);
  const end = {
    entries: u16(10),
    directoryBytes: u32(12),
    directoryOffset: u32(16),
  };
  const refuse = (
    code: ZipFinding["code"],
    message: string,
  ): ZipFinding => ({ code, message, offset: at });
  if (u16(20) !== 0) {
    return refuse(
      "ZIP_UNREADABLE",
      "The archive is cut off inside its comment",
    );
  }
  if (
    end.directoryOffset === 0xffffffff || end.directoryBytes === 0xffffffff ||
    end.entries === 0xffff
  ) {
    return refuse("ZIP_NOT_CANONICAL", "The archive is a Zip64 archive");
  }
  if (u16(4) !== 0 || u16(6) !== 0 || u16(8) !== end.entries) {
    return refuse("ZIP_NOT_CANONICAL", "The archive claims several disks");
  }
  if (end.directoryOffset + end.directoryBytes !== at) {
    return refuse(
      "ZIP_GAP",
      `The directory ends at ${
        end.directoryOffset + end.directoryBytes
      } and the end record starts at ${at}: something lies between, in front, or is missing`,
    );
  }
  if (end.entries > limits.entries) {
    return refuse(
      "LIMIT_ARCHIVE",
      `The archive has ${end.entries} entries, more than the ${limits.entries} allowed`,
    );
  }
  if (end.directoryBytes < end.entries * CENTRAL_BYTES) {
    return refuse(
      "ZIP_UNREADABLE",
      "The directory is too small for the entries it claims",
    );
  }
  return end;
}

// A comment has at most 65,535 bytes: an end record further in front ends nothing.
const SEARCH_BYTES = END_BYTES + 0xffff;

async function explain(source: ArchiveSource): Promise<ZipFinding> {
  const from = Math.max(0, source.size - SEARCH_BYTES);
  const tail = await source.read(from, SEARCH_BYTES);
  const found = lastEndRecord(tail);
  if (found !== undefined) {
    const rest = source.size - (from + found + END_BYTES);
    const signature = new TextDecoder("latin1").decode(tail.subarray(found))
      .includes("MCPB_SIG_V1");
    return {
      code: "ZIP_TRAILING_DATA",
      message: signature
        ? `${rest} bytes follow the end record: a signature as mcpb appends it, which strict readers refuse`
        : `${rest} bytes follow the end record`,
      offset: from + found + END_BYTES,
    };
  }
  return { code: "ZIP_UNREADABLE", message: await guess(source) };
}

function lastEndRecord(tail: Uint8Array): number | undefined {
  for (let at = tail.length - END_BYTES; at >= 0; at--) {
    if (
      tail[at] === 0x50 && tail[at + 1] === 0x4b && tail[at + 2] === 0x05 &&
      tail[at + 3] === 0x06
    ) return at;
  }
  return undefined;
}

async function guess(source: ArchiveSource): Promise<string> {
  if (source.size === 0) return "The file is empty";
  const head = await source.read(0, 4);
  const magic = [...head].map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  if (magic.startsWith("1f8b")) {
    return "The file is gzip data, as of a tar.gz, not a zip archive";
  }
  if (magic === "504b0304") {
    return "The archive is cut off: it has no end record";
  }
  return "The file is not a zip archive";
}
