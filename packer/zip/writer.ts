/**
 * Writes the reproducible archive.
 *
 * The compressor is zip.js's own build of zlib in WebAssembly: it gives the same
 * bytes on every runtime and platform, and the same as Python's `zipfile` at
 * level 6. The runtime's native compressor does not.
 */
import { PackerError } from "../errors.ts";
import { Sha256 } from "../digest.ts";
import { sortEntries } from "../entry.ts";
import type { BundleEntry } from "../types.ts";
import {
  DOS_EPOCH,
  MODE_FILE,
  MODE_PROGRAM,
  VERSION_MADE_BY,
} from "./format.ts";

type ZipJs = typeof import("@zip.js/zip.js");

/** Where the archive's bytes go, in order. */
export interface ZipSink {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

/** How an archive is written. */
export interface WriteZipOptions {
  /** Called after each entry. */
  readonly onEntry?: (entry: BundleEntry) => void;
  readonly signal?: AbortSignal;
  /** Stamp the entries with this moment instead of 1980-01-01: for debugging only. */
  readonly debugDate?: Date;
}

/** What was written. */
export interface WrittenZip {
  /** Bytes of the archive. */
  readonly size: number;
  /** SHA-256 of the archive, lower-case hex. */
  readonly sha256: string;
}

const OPTIONS = {
  level: 6,
  extendedTimestamp: false,
  dataDescriptor: false,
  bufferedWrite: true,
  zip64: false,
  keepOrder: true,
  rawLastModDate: DOS_EPOCH,
  versionMadeBy: VERSION_MADE_BY,
  useWebWorkers: false,
  useCompressionStream: false,
} as const;

/**
 * Writes entries in the order of their paths' UTF-8 bytes.
 *
 * @param entries Each path once; content is read one entry at a time.
 * @throws {PackerError} `COMPRESSOR_MISMATCH` where the pinned compressor does not
 * run, `ENTRY_CHANGED`, `ENTRY_REFUSED` for a path that comes twice.
 */
export async function writeZip(
  entries: Iterable<BundleEntry>,
  sink: ZipSink,
  options: WriteZipOptions = {},
): Promise<WrittenZip> {
  const zipJs = await loadCompressor();
  const hash = new Sha256();
  let size = 0;
  await write(zipJs, sortEntries(entries), async (chunk) => {
    options.signal?.throwIfAborted();
    await hash.update(chunk);
    await sink.write(chunk);
    size += chunk.length;
  }, options);
  return { size, sha256: await hash.digest() };
}

async function write(
  zipJs: ZipJs,
  entries: readonly BundleEntry[],
  emit: (chunk: Uint8Array<ArrayBuffer>) => Promise<void>,
  options: WriteZipOptions,
): Promise<void> {
  const writer = new zipJs.ZipWriter(
    new WritableStream<Uint8Array<ArrayBuffer>>({ write: emit }),
    options.debugDate === undefined ? OPTIONS : {
      ...OPTIONS,
      rawLastModDate: undefined,
      lastModDate: options.debugDate,
    },
  );
  let previous: string | undefined;
  for (const entry of entries) {
    options.signal?.throwIfAborted();
    if (entry.path === previous) {
      throw new PackerError(
        "ENTRY_REFUSED",
        `Cannot pack "${entry.path}" twice`,
      );
    }
    previous = entry.path;
    await writer.add(
      entry.path,
      new zipJs.Uint8ArrayReader(await entry.read()),
      { unixMode: entry.mode === 0o755 ? MODE_PROGRAM : MODE_FILE },
    );
    options.onEntry?.(entry);
  }
  await writer.close();
}

// Where its WebAssembly cannot load, zip.js falls back to the native compressor
// without a word; that one makes 435 bytes of this.
const SELF_TEST_BYTES = 407;

async function loadCompressor(): Promise<ZipJs> {
  const zipJs = await import("@zip.js/zip.js");
  let size = 0;
  const zeros = new Uint8Array(300_000);
  await write(
    zipJs,
    [{
      path: "z",
      mode: 0o644,
      size: zeros.length,
      sha256: "",
      read: () => Promise.resolve(zeros),
    }],
    (chunk) => {
      size += chunk.length;
      return Promise.resolve();
    },
    {},
  );
  if (size !== SELF_TEST_BYTES) {
    throw new PackerError(
      "COMPRESSOR_MISMATCH",
      `The pinned compressor does not run here: its self-test gave ${size} bytes instead of ${SELF_TEST_BYTES}`,
      { hint: "Allow WebAssembly, or pack with another build of Deno" },
    );
  }
  return zipJs;
}
