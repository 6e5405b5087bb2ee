/**
 * Writes the reproducible archive: to the byte what zip.js's `ZipWriter` and
 * Python's `zipfile` write at level 6 for entries of 1980-01-01.
 *
 * Source: PKWARE APPNOTE §4.3.
 */
import { concat, Sha256 } from "../digest.ts";
import { sortEntries } from "../entry.ts";
import { PackerError } from "../errors.ts";
import type { BundleEntry } from "../types.ts";
import { type Deflate, loadDeflate } from "./deflate.ts";
import * as format from "./format.ts";

/** Where the archive's bytes go, in order. */
export interface ZipSink {
  /** Takes all of the bytes; they stay as they are. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

/** How an archive is written. */
export interface WriteZipOptions {
  /** Called after each entry. */
  readonly onEntry?: (entry: BundleEntry) => void;
  readonly signal?: AbortSignal;
  /** Stamp the entries with this moment, in UTC, instead of 1980-01-01: for debugging only. */
  readonly debugDate?: Date;
}

/** What was written. */
export interface WrittenZip {
  /** Bytes of the archive. */
  readonly size: number;
  /** SHA-256 of the archive, lower-case hex. */
  readonly sha256: string;
}

/**
 * Writes entries in the order of their paths' UTF-8 bytes.
 *
 * @param entries Each path once; content is read one entry at a time.
 * @throws {PackerError} `COMPRESSOR_MISMATCH` where the pinned compressor does not
 * run, `ENTRY_CHANGED`, `ENTRY_REFUSED` for a path that comes twice,
 * `ARCHIVE_TOO_LARGE` past what a zip archive without extensions holds.
 */
export async function writeZip(
  entries: Iterable<BundleEntry>,
  sink: ZipSink,
  options: WriteZipOptions = {},
): Promise<WrittenZip> {
  const deflate = await loadDeflate();
  const output = new Output(sink);
  const directory: Uint8Array<ArrayBuffer>[] = [];
  const dos = options.debugDate === undefined
    ? format.DOS_EPOCH
    : dosTime(options.debugDate);
  let previous: string | undefined;
  for (const entry of sortEntries(entries)) {
    options.signal?.throwIfAborted();
    if (entry.path === previous) {
      throw new PackerError(
        "ENTRY_REFUSED",
        `Cannot pack "${entry.path}" twice`,
      );
    }
    previous = entry.path;
    directory.push(await writeEntry(entry, deflate, dos, output));
    options.onEntry?.(entry);
  }
  const directoryOffset = output.size;
  const headers = concat(directory);
  await output.write(headers);
  await output.write(
    endRecord(directory.length, directoryOffset, headers.length),
  );
  return await output.finish();
}

// Small writes are gathered: a bundle of fifty files is one write.
const GATHERED_BYTES = 1024 * 1024;

class Output {
  size = 0;
  readonly #sink: ZipSink;
  readonly #hash = new Sha256();
  #waiting: Uint8Array<ArrayBuffer>[] = [];
  #waitingBytes = 0;

  constructor(sink: ZipSink) {
    this.#sink = sink;
  }

  async write(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    this.size += bytes.length;
    if (this.size > 0xfffffffe) {
      throw new PackerError(
        "ARCHIVE_TOO_LARGE",
        "The bundle would be larger than 4 GiB",
      );
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes >= GATHERED_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = concat(this.#waiting, this.#waitingBytes);
    this.#waiting = [];
    this.#waitingBytes = 0;
    await this.#hash.update(bytes);
    await this.#sink.write(bytes);
  }

  async finish(): Promise<WrittenZip> {
    await this.#flush();
    return { size: this.size, sha256: await this.#hash.digest() };
  }
}

// Writes header and data; gives the entry's header in the directory.
async function writeEntry(
  entry: BundleEntry,
  deflate: Deflate,
  dos: number,
  output: Output,
): Promise<Uint8Array<ArrayBuffer>> {
  const name = new TextEncoder().encode(entry.path);
  const content = await entry.read();
  const { data, crc32 } = deflate(content);
  const flags = name.length === entry.path.length ? 0 : format.FLAG_UTF8;
  const shared = (view: DataView, at: number): void => {
    view.setUint16(at, format.VERSION_NEEDED, true);
    view.setUint16(at + 2, flags, true);
    view.setUint16(at + 4, format.METHOD_DEFLATE, true);
    view.setUint32(at + 6, dos, true);
    view.setUint32(at + 10, crc32, true);
    view.setUint32(at + 14, data.length, true);
    view.setUint32(at + 18, content.length, true);
    view.setUint16(at + 22, name.length, true);
  };
  const offset = output.size;
  const local = header(format.LOCAL_BYTES, format.LOCAL_SIGNATURE, name);
  shared(local.view, 4);
  await output.write(local.bytes);
  await output.write(data);
  const central = header(format.CENTRAL_BYTES, format.CENTRAL_SIGNATURE, name);
  central.view.setUint16(4, format.VERSION_MADE_BY, true);
  shared(central.view, 6);
  const mode = entry.mode === 0o755 ? format.MODE_PROGRAM : format.MODE_FILE;
  central.view.setUint32(38, mode * 0x10000, true);
  central.view.setUint32(42, offset, true);
  return central.bytes;
}

function header(
  size: number,
  signature: number,
  name: Uint8Array,
): { bytes: Uint8Array<ArrayBuffer>; view: DataView } {
  const bytes = new Uint8Array(size + name.length);
  bytes.set(name, size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, signature, true);
  return { bytes, view };
}

function endRecord(
  count: number,
  directoryOffset: number,
  directoryBytes: number,
): Uint8Array<ArrayBuffer> {
  if (count > 0xfffe) {
    throw new PackerError(
      "ARCHIVE_TOO_LARGE",
      `The bundle would have ${count} entries, more than an archive holds`,
    );
  }
  const { bytes, view } = header(
    format.END_BYTES,
    format.END_SIGNATURE,
    new Uint8Array(0),
  );
  view.setUint16(8, count, true);
  view.setUint16(10, count, true);
  view.setUint32(12, directoryBytes, true);
  view.setUint32(16, directoryOffset, true);
  return bytes;
}

// Source: PKWARE APPNOTE §4.4.6. The first year is 1980, a tick is two seconds.
function dosTime(date: Date): number {
  const day = (date.getUTCFullYear() - 1980 << 9) |
    (date.getUTCMonth() + 1 << 5) | date.getUTCDate();
  const time = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) |
    (date.getUTCSeconds() >> 1);
  return day * 0x10000 + time;
}
