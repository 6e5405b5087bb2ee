/** Reads an archive strictly: only what our writer writes passes. */
import { crc32, inflateRawSync } from "node:zlib";
import { Sha256, sha256Hex } from "../digest.ts";
import { display } from "../display.ts";
import { PackerError } from "../errors.ts";
import { ARCHIVE_LIMITS, type ArchiveLimits } from "../limits.ts";
import type { BundleEntry } from "../types.ts";
import { readDirectory, type ZipEntry } from "./directory.ts";
import type { ArchiveSource } from "./source.ts";
import type { ZipFinding } from "./verdict.ts";

/** An archive's entries, or what is wrong with it: entries only if there are no findings. */
export interface ZipReading {
  /** The first one is the verdict. */
  readonly findings: readonly ZipFinding[];
  /** Sorted by the UTF-8 bytes of their paths. */
  readonly entries: readonly BundleEntry[];
}

/**
 * Reads a whole archive: directory, local headers, and every entry once for its
 * CRC-32, size and digest. Nothing is written and memory stays within one entry.
 *
 * What it cannot see is which compressor made the bytes: for that the entries
 * are packed again and compared.
 */
export async function readZip(
  source: ArchiveSource,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<ZipReading> {
  const directory = await readDirectory(source, limits);
  if (directory.findings.length > 0) {
    return { findings: directory.findings, entries: [] };
  }
  const entries: BundleEntry[] = [];
  for (const entry of directory.entries) {
    const digest = await examine(source, entry);
    if (digest === undefined) {
      return { findings: [damaged(entry)], entries: [] };
    }
    entries.push({
      path: entry.path,
      mode: entry.mode,
      size: entry.size,
      sha256: digest,
      read: () => content(source, entry),
    });
  }
  return { findings: [], entries };
}

function damaged(entry: ZipEntry): ZipFinding {
  return {
    code: "ZIP_DATA",
    message: `Entry "${
      display(entry.path)
    }" does not inflate to the size and CRC-32 that it declares`,
    path: display(entry.path),
    offset: entry.dataOffset,
  };
}

async function content(
  source: ArchiveSource,
  entry: ZipEntry,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(entry.size);
  let at = 0;
  const whole = await inflate(source, entry, (chunk) => {
    bytes.set(chunk, at);
    at += chunk.length;
  });
  if (whole) return bytes;
  throw new PackerError(
    "ENTRY_CHANGED",
    `Entry "${display(entry.path)}" changed while the bundle was read`,
  );
}

async function examine(
  source: ArchiveSource,
  entry: ZipEntry,
): Promise<string | undefined> {
  if (entry.size <= INLINE_BYTES) {
    let bytes = new Uint8Array(0);
    const whole = await inflate(source, entry, (chunk) => {
      bytes = chunk;
    });
    return whole ? await sha256Hex(bytes) : undefined;
  }
  const hash = new Sha256();
  const whole = await inflate(source, entry, (chunk) => hash.update(chunk));
  return whole ? await hash.digest() : undefined;
}

// Entries up to this size are inflated in one call, which passes over junk behind
// the final block (packing again finds it); the streaming inflater refuses it.
const INLINE_BYTES = 8 * 1024 * 1024;

// Whether the entry inflates to exactly its declared size and CRC-32; never
// hands out more than that size.
async function inflate(
  source: ArchiveSource,
  entry: ZipEntry,
  take: (chunk: Uint8Array<ArrayBuffer>) => void | Promise<void>,
): Promise<boolean> {
  const chunks = entry.size <= INLINE_BYTES
    ? inflateWhole(source, entry)
    : inflateChunks(source, entry);
  let size = 0;
  let checksum = 0;
  try {
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > entry.size) return false;
      checksum = crc32(chunk, checksum);
      await take(chunk);
    }
  } catch (error) {
    if (isDataError(error)) return false;
    throw error;
  }
  return size === entry.size && checksum === entry.crc32;
}

function isDataError(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" &&
    (code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE");
}

async function* inflateWhole(
  source: ArchiveSource,
  entry: ZipEntry,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const compressed = await source.read(entry.dataOffset, entry.compressedSize);
  const bytes = inflateRawSync(compressed, {
    // One more than declared, so that an empty entry has a legal bound.
    maxOutputLength: entry.size + 1,
  });
  yield new Uint8Array(bytes);
}

async function* inflateChunks(
  source: ArchiveSource,
  entry: ZipEntry,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const stream = compressedChunks(source, entry)
    .pipeThrough(new DecompressionStream("deflate-raw"));
  yield* stream;
}

// Deflate makes a thousand bytes of one: what goes in at once bounds what a bomb
// brings out before it is seen.
const CHUNK_BYTES = 16 * 1024;
const BLOCK_BYTES = 16 * CHUNK_BYTES;

function compressedChunks(
  source: ArchiveSource,
  entry: ZipEntry,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = entry.dataOffset;
  const end = entry.dataOffset + entry.compressedSize;
  let block = new Uint8Array(0);
  return new ReadableStream({
    async pull(controller) {
      if (block.length === 0) {
        block = await source.read(at, Math.min(BLOCK_BYTES, end - at));
        at += block.length;
      }
      if (block.length === 0) return controller.close();
      controller.enqueue(block.subarray(0, CHUNK_BYTES));
      block = block.subarray(CHUNK_BYTES);
    },
  }, { highWaterMark: 0 });
}
