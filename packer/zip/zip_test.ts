import assert from "node:assert/strict";
import { crc32, deflateRawSync } from "node:zlib";
import * as zipJs from "@zip.js/zip.js";
import fc from "fast-check";
import { concat, sha256Hex } from "../digest.ts";
import { comparePaths, memoryEntry } from "../entry.ts";
import { PackerError } from "../errors.ts";
import type { BundleEntry } from "../types.ts";
import { loadDeflate, proveDeflate } from "./deflate.ts";
import { readZip } from "./reader.ts";
import { bytesSource } from "./source.ts";
import { writeZip } from "./writer.ts";

async function zip(entries: Iterable<BundleEntry>) {
  const chunks: Uint8Array[] = [];
  const written = await writeZip(entries, {
    write: (chunk) => {
      chunks.push(chunk.slice());
      return Promise.resolve();
    },
  });
  const bytes = concat(chunks);
  assert.equal(written.size, bytes.length);
  assert.equal(written.sha256, await sha256Hex(bytes));
  return { bytes, sha256: written.sha256 };
}

// A fixture made by arithmetic: text that compresses, and noise that does not.
function noise(size: number, spread: number): Uint8Array<ArrayBuffer> {
  let state = 1;
  return Uint8Array.from({ length: size }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 16) % spread;
  });
}

async function fixture(): Promise<BundleEntry[]> {
  return [
    await memoryEntry("plugin.json", '{"id":"demo"}'),
    await memoryEntry("empty", ""),
    await memoryEntry("text.txt", noise(1024 * 1024, 7)),
    await memoryEntry("random.bin", noise(1024 * 1024, 256)),
    await memoryEntry("ä.md", "umlaut\n"),
    await memoryEntry("server/bridge", "#!/bin/true\n", 0o755),
  ];
}

Deno.test("PACK-02 writeZip() gives the pinned bytes", async () => {
  const { sha256 } = await zip(await fixture());
  // Python 3.11's zipfile makes the same archive of the same entries, and so do
  // Deno 2.6 and 2.9: whoever changes this digest changes every published bundle.
  assert.equal(
    sha256,
    "bcf4438593e096b070820d76edcb3ee32c34299692f0c4beefb643e4d55021a9",
  );
});

Deno.test("PACK-04 writeZip() sorts, whatever order the entries come in", async () => {
  const entries = await fixture();
  const { sha256 } = await zip(entries);
  assert.equal((await zip(entries.toReversed())).sha256, sha256);
});

Deno.test("PACK-01 PACK-05 writeZip() writes the fixed date, modes and maker", async () => {
  const { bytes } = await zip(await fixture());
  const view = new DataView(bytes.buffer);
  const modes = new Map<string, number>();
  for (let at = 0; at < bytes.length - 46; at++) {
    const signature = view.getUint32(at, true);
    if (signature === 0x04034b50) {
      assert.equal(view.getUint32(at + 10, true), 0x00210000);
    }
    if (signature !== 0x02014b50) continue;
    assert.equal(view.getUint32(at + 12, true), 0x00210000);
    assert.equal(view.getUint16(at + 4, true), 0x0314);
    const name = bytes.subarray(
      at + 46,
      at + 46 + view.getUint16(at + 28, true),
    );
    modes.set(
      new TextDecoder().decode(name),
      view.getUint32(at + 38, true) >>> 16,
    );
  }
  assert.equal(modes.size, 6);
  for (const [path, mode] of modes) {
    assert.equal(mode, path === "server/bridge" ? 0o100755 : 0o100644);
  }
});

Deno.test("writeZip() refuses a path that comes twice", async () => {
  const entry = await memoryEntry("a", "1");
  await assert.rejects(
    () => zip([entry, entry]),
    (error) => error instanceof PackerError && error.code === "ENTRY_REFUSED",
  );
});

Deno.test("writeZip() stops when it is told to", async () => {
  const stop = new AbortController();
  const entries = await fixture();
  let seen = 0;
  await assert.rejects(() =>
    writeZip(entries, { write: () => Promise.resolve() }, {
      signal: stop.signal,
      onEntry: () => {
        seen++;
        stop.abort();
      },
    })
  );
  assert.equal(seen, 1);
});

Deno.test("writeZip() fails where the sink fails", async () => {
  await assert.rejects(
    async () =>
      writeZip(await fixture(), {
        write: () => Promise.reject(new Error("disk full")),
      }),
    /disk full/,
  );
});

Deno.test("readZip() gives back what writeZip() took", async () => {
  const name = fc.stringMatching(/^[a-z0-9]{1,8}$/)
    .filter((text) => !/^(con|prn|aux|nul|com\d|lpt\d)$/.test(text));
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(
        fc.tuple(name, fc.uint8Array({ maxLength: 400 }), fc.boolean()),
        { selector: ([path]) => path, maxLength: 6 },
      ),
      async (files) => {
        const entries = await Promise.all(
          files.map(([path, bytes, program]) =>
            memoryEntry(path, new Uint8Array(bytes), program ? 0o755 : 0o644)
          ),
        );
        const { bytes } = await zip(entries);
        const reading = await readZip(bytesSource(bytes));
        assert.deepEqual(reading.findings, []);
        const expected = new Map(entries.map((entry) => [entry.path, entry]));
        assert.equal(reading.entries.length, expected.size);
        for (const entry of reading.entries) {
          const { read: _, ...given } = expected.get(entry.path) ?? entry;
          assert.deepEqual({ ...entry, read: undefined }, {
            ...given,
            read: undefined,
          });
          assert.deepEqual(
            await entry.read(),
            await expected.get(entry.path)?.read(),
          );
        }
      },
    ),
    { numRuns: 25 },
  );
});

Deno.test("readZip() streams a large entry", async () => {
  const large = noise(9 * 1024 * 1024, 4);
  const { bytes } = await zip([await memoryEntry("large", large)]);
  const { findings, entries } = await readZip(bytesSource(bytes));
  assert.deepEqual(findings, []);
  assert.equal(entries[0]?.sha256, await sha256Hex(large));
  assert.deepEqual(await entries[0]?.read(), large);
  bytes[1_000_000] = (bytes[1_000_000] ?? 0) ^ 0x55;
  const damaged = await readZip(bytesSource(bytes));
  assert.deepEqual(damaged.findings.map(({ code }) => code), ["ZIP_DATA"]);
});

// What the archive is defined by: zip.js's own writer with every choice fixed.
async function zipJsZip(entries: readonly BundleEntry[]) {
  const writer = new zipJs.ZipWriter(new zipJs.Uint8ArrayWriter(), {
    level: 6,
    extendedTimestamp: false,
    dataDescriptor: false,
    bufferedWrite: true,
    zip64: false,
    keepOrder: true,
    rawLastModDate: 0x00210000,
    versionMadeBy: 0x0314,
    useWebWorkers: false,
    useCompressionStream: false,
  });
  for (
    const entry of entries.toSorted((a, b) => comparePaths(a.path, b.path))
  ) {
    await writer.add(
      entry.path,
      new zipJs.Uint8ArrayReader(await entry.read()),
      { unixMode: 0o100000 | entry.mode },
    );
  }
  return await writer.close();
}

Deno.test("PACK-02 writeZip() writes to the byte what zip.js's ZipWriter writes", async () => {
  const entries = await fixture();
  assert.deepEqual((await zip(entries)).bytes, await zipJsZip(entries));
  const path = fc.stringMatching(/^[a-zäß😀]{1,6}$/u);
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.tuple(
      fc.integer({ min: 1, max: 90_000 }),
      fc.integer({ min: 1, max: 255 }),
    )
      .map(([size, spread]) => noise(size, spread)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(path, content, fc.boolean()), {
        selector: ([path]) => path,
        maxLength: 4,
      }),
      async (files) => {
        const entries = await Promise.all(
          files.map(([path, bytes, program]) =>
            memoryEntry(path, new Uint8Array(bytes), program ? 0o755 : 0o644)
          ),
        );
        assert.deepEqual((await zip(entries)).bytes, await zipJsZip(entries));
      },
    ),
    { numRuns: 20 },
  );
});

const isMismatch = (error: unknown) =>
  error instanceof PackerError && error.code === "COMPRESSOR_MISMATCH";

// How the runtime's own compressors answer the probe: node:zlib at once, the
// Compression Streams with an answer worked out before.
async function nativeStream(bytes: Uint8Array<ArrayBuffer>) {
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

Deno.test("PACK-02 proveDeflate() refuses every compressor but the pinned one", async () => {
  const pinned = await loadDeflate();
  proveDeflate(pinned);
  let probe = new Uint8Array(0);
  for (const level of [1, 5, 6, 7, 9]) {
    assert.throws(() =>
      proveDeflate((bytes) => {
        if (probe.length === 0) probe = new Uint8Array(bytes);
        return {
          data: new Uint8Array(deflateRawSync(bytes, { level })),
          crc32: crc32(bytes),
        };
      }), isMismatch);
  }
  const streamed = await nativeStream(probe);
  assert.throws(
    () => proveDeflate(() => ({ data: streamed, crc32: crc32(streamed) })),
    isMismatch,
  );
  const { data } = pinned(probe);
  proveDeflate(() => ({ data, crc32: crc32(data) }));
});

Deno.test("loadDeflate() fails loudly where WebAssembly does not load", async () => {
  const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  await assert.rejects(
    () => loadDeflate(() => WebAssembly.compile(empty)),
    isMismatch,
  );
  await assert.rejects(
    () => loadDeflate(() => Promise.reject(new Error("blocked"))),
    isMismatch,
  );
});
