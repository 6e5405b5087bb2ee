/**
 * The pinned compressor: zlib at level 6, in the WebAssembly build of zip.js.
 *
 * It is called directly and not through zip.js's streams, which take ten times as
 * long on a small bundle, and which fall back to the runtime's own compressor
 * (other bytes) without a word where WebAssembly does not load.
 *
 * Source: RFC 1951, RFC 1952.
 */
import { concat } from "../digest.ts";
import { PackerError } from "../errors.ts";

/** What the compressor made of some bytes. */
export interface Deflated {
  readonly data: Uint8Array<ArrayBuffer>;
  /** CRC-32 of what went in. */
  readonly crc32: number;
}

/** Compresses; each call is independent of the ones before. */
export type Deflate = (bytes: Uint8Array) => Deflated;

interface Zlib {
  readonly memory: WebAssembly.Memory;
  _initialize?(): void;
  malloc(size: number): number;
  deflate_new(): number;
  deflate_init_gzip(stream: number, level: number): number;
  /** Status in the top byte, bytes produced in the others. */
  deflate_process(
    stream: number,
    input: number,
    inputSize: number,
    output: number,
    outputSize: number,
    flush: number,
  ): number;
  deflate_last_consumed(stream: number): number;
  deflate_end(stream: number): number;
}

const LEVEL = 6;
const NO_FLUSH = 0;
const FINISH = 4;
const STREAM_END = 1;
const INPUT_BYTES = 32 * 1024;
const OUTPUT_BYTES = 64 * 1024;
// The gzip wrapping has zlib compute the CRC-32; it is cut off again.
const GZIP_HEADER_BYTES = 10;
const GZIP_TRAILER_BYTES = 8;

/**
 * Starts the compressor and has it prove itself.
 *
 * @throws {PackerError} `COMPRESSOR_MISMATCH` where it does not run or gives other bytes.
 */
export async function loadDeflate(
  load: () => Promise<WebAssembly.Module> = loadModule,
): Promise<Deflate> {
  let deflate: Deflate;
  try {
    const { exports } = await WebAssembly.instantiate(await load());
    deflate = createDeflate(exports as unknown as Zlib);
  } catch (cause) {
    throw mismatch("it does not start", cause);
  }
  proveDeflate(deflate);
  return deflate;
}

async function loadModule(): Promise<WebAssembly.Module> {
  return (await import("./zlib_module.js")).zlibModule;
}

const PROBE_BYTES = 12 * 1024;
// What zlib at level 6 makes of the probe. Other compressors, those of the runtime
// among them, make other bytes of it.
const PROVEN_BYTES = 6_063;
const PROVEN_CRC32 = 771_389_046;

/**
 * Has a compressor prove that it is the pinned one.
 *
 * @throws {PackerError} `COMPRESSOR_MISMATCH`.
 */
export function proveDeflate(deflate: Deflate): void {
  const { data } = deflate(probe());
  const { crc32 } = deflate(data);
  if (data.length === PROVEN_BYTES && crc32 === PROVEN_CRC32) return;
  throw mismatch(
    `its self-test gave ${data.length} bytes with CRC-32 ${crc32} instead of ${PROVEN_BYTES} with ${PROVEN_CRC32}`,
  );
}

// Runs, repetitions near and far, and noise: each makes compressors part ways.
function probe(): Uint8Array {
  const bytes = new Uint8Array(PROBE_BYTES);
  let state = 1;
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    const spread = 1 << (i >> 9 & 7);
    bytes[i] = 97 + (state >>> 16) % spread;
  }
  bytes.copyWithin(9_000, 500, 2_500);
  return bytes;
}

function mismatch(reason: string, cause?: unknown): PackerError {
  return new PackerError(
    "COMPRESSOR_MISMATCH",
    `The pinned compressor cannot be used here: ${reason}`,
    { cause, hint: "Allow WebAssembly, or pack with another build of Deno" },
  );
}

function createDeflate(zlib: Zlib): Deflate {
  zlib._initialize?.();
  const input = zlib.malloc(INPUT_BYTES);
  const output = zlib.malloc(OUTPUT_BYTES);
  return (bytes) => {
    const stream = zlib.deflate_new();
    try {
      if (zlib.deflate_init_gzip(stream, LEVEL) !== 0) {
        throw new Error("zlib cannot start a stream");
      }
      return unwrap(run(zlib, stream, input, output, bytes));
    } finally {
      zlib.deflate_end(stream);
    }
  };
}

function run(
  zlib: Zlib,
  stream: number,
  input: number,
  output: number,
  bytes: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  const step = (size: number, flush: number): boolean => {
    const result = zlib.deflate_process(
      stream,
      input,
      size,
      output,
      OUTPUT_BYTES,
      flush,
    );
    const status = result >> 24;
    if (status < 0) throw new Error(`zlib failed with status ${status}`);
    // The memory may have grown, and its buffer with it.
    const made = new Uint8Array(zlib.memory.buffer, output, result & 0xffffff);
    if (made.length > 0) chunks.push(made.slice());
    return status === STREAM_END;
  };
  for (let at = 0; at < bytes.length;) {
    const part = bytes.subarray(at, at + INPUT_BYTES);
    new Uint8Array(zlib.memory.buffer, input, part.length).set(part);
    step(part.length, NO_FLUSH);
    const consumed = zlib.deflate_last_consumed(stream);
    if (consumed === 0) throw new Error("zlib takes no more input");
    at += consumed;
  }
  while (!step(0, FINISH));
  return concat(chunks);
}

function unwrap(gzip: Uint8Array<ArrayBuffer>): Deflated {
  const end = gzip.length - GZIP_TRAILER_BYTES;
  return {
    data: gzip.subarray(GZIP_HEADER_BYTES, end),
    crc32: new DataView(gzip.buffer, gzip.byteOffset + end).getUint32(0, true),
  };
}
