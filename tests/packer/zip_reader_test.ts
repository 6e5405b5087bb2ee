/** Every verdict of the strict reader, each beside a good archive that passes. */
import assert from "node:assert/strict";
import { constants, deflateRawSync } from "node:zlib";
import { concat } from "../../packer/digest.ts";
import { memoryEntry } from "../../packer/entry.ts";
import { ARCHIVE_LIMITS } from "../../packer/limits.ts";
import { readZip } from "../../packer/zip/reader.ts";
import { bytesSource } from "../../packer/zip/source.ts";
import type { ZipVerdict } from "../../packer/zip/verdict.ts";
import { writeZip } from "../../packer/zip/writer.ts";
import {
  crc32,
  type RawEnd,
  type RawEntry,
  rawZip,
  utf8,
} from "./support/raw_zip.ts";

async function good(): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  await writeZip([
    await memoryEntry("plugin.json", '{"id":"demo"}'),
    await memoryEntry("commands/a.md", "hello ".repeat(500)),
    await memoryEntry("ä.md", "x"),
  ], {
    write: (chunk) => {
      chunks.push(chunk.slice());
      return Promise.resolve();
    },
  });
  return concat(chunks);
}

async function codes(bytes: Uint8Array<ArrayBuffer>): Promise<string[]> {
  const { findings, entries } = await readZip(bytesSource(bytes));
  if (findings.length > 0) assert.deepEqual(entries, []);
  return findings.map(({ code }) => code);
}

const A: RawEntry = { name: "a", content: "hello" };
const B: RawEntry = { name: "b", content: "world" };
const one = (change: Partial<RawEntry>, end: RawEnd = {}) =>
  rawZip([{ ...A, ...change }, B], end);
const both = (change: RawEntry["local"]): Partial<RawEntry> => ({
  local: change ?? {},
  central: change ?? {},
});

const MIB = 1024 * 1024;
const zeros = deflateRawSync(new Uint8Array(MIB));
// Deflate blocks of zeros, ended late: as much output as one likes.
const bomb = (declared: number): Uint8Array<ArrayBuffer> =>
  rawZip([{ name: "bomb", data: zeros, ...both({ size: declared }) }]);

const HOSTILE:
  readonly (readonly [string, ZipVerdict, () => Uint8Array<ArrayBuffer>])[] = [
    ["an empty file", "ZIP_UNREADABLE", () => new Uint8Array(0)],
    [
      "random bytes",
      "ZIP_UNREADABLE",
      () => new Uint8Array(500).map((_, i) => i * 7),
    ],
    [
      "a tar.gz",
      "ZIP_UNREADABLE",
      () => new Uint8Array([0x1f, 0x8b, ...new Uint8Array(100)]),
    ],
    ["a cut-off archive", "ZIP_UNREADABLE", () => rawZip([A, B]).slice(0, -30)],
    [
      "a cut-off comment",
      "ZIP_UNREADABLE",
      () => rawZip([A], { comment: utf8("x") }).slice(0, -1),
    ],
    ["a damaged directory", "ZIP_UNREADABLE", () => {
      const bytes = rawZip([A]);
      const at = bytes.length - 22 - 47;
      bytes[at] = 0;
      return bytes;
    }],
    [
      "more headers claimed than there are",
      "ZIP_UNREADABLE",
      () => one({}, { count: 3 }),
    ],
    [
      "a name twice",
      "ZIP_DUPLICATE",
      () => rawZip([A, { ...A, content: "other" }]),
    ],
    [
      "another local name",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { name: "c" } }),
    ],
    [
      "a longer local name",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { name: "aa" } }),
    ],
    [
      "another local method",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { method: 0 } }),
    ],
    [
      "another local size",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { size: 9 } }),
    ],
    [
      "another local compressed size",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { compressedSize: 9 } }),
    ],
    [
      "another local CRC",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { crc: 9 } }),
    ],
    [
      "other local flags",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { flags: 8 } }),
    ],
    [
      "encryption only in the local header",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { flags: 1 } }),
    ],
    [
      "another local date",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { dos: 0x00220000 } }),
    ],
    [
      "another local version",
      "ZIP_LOCAL_MISMATCH",
      () => one({ local: { needed: 10 } }),
    ],
    ["no local header", "ZIP_LOCAL_MISMATCH", () => {
      const bytes = rawZip([A, B]);
      bytes[0] = 0;
      return bytes;
    }],
    [
      "a ghost entry in front",
      "ZIP_GAP",
      () => rawZip([{ ...A, ghost: true }, B]),
    ],
    [
      "a ghost entry at the end",
      "ZIP_GAP",
      () => rawZip([A, { ...B, ghost: true }]),
    ],
    [
      "prepended data",
      "ZIP_GAP",
      () => concat([utf8("#!/bin/sh\n"), rawZip([A])]),
    ],
    [
      "prepended data, offsets repaired",
      "ZIP_GAP",
      () => rawZip([A], { prefix: utf8("#!/bin/sh\n") }),
    ],
    [
      "data between entries",
      "ZIP_GAP",
      () => rawZip([A, { ...B, before: utf8("xx") }]),
    ],
    [
      "data before the directory",
      "ZIP_GAP",
      () => rawZip([A], { beforeDirectory: utf8("xx") }),
    ],
    [
      "data after the directory",
      "ZIP_GAP",
      () => rawZip([A], { afterDirectory: utf8("xx") }),
    ],
    ["a ghost directory header", "ZIP_GAP", () => rawZip([A, B], { count: 1 })],
    [
      "overlapping entries",
      "ZIP_GAP",
      () => rawZip([A, { ...B, central: { offset: 0 } }]),
    ],
    [
      "an entry that reaches into the directory",
      "ZIP_GAP",
      () => rawZip([{ ...A, ...both({ compressedSize: 60 }) }]),
    ],
    [
      "a second archive behind the first",
      "ZIP_GAP",
      () => concat([rawZip([A]), rawZip([B])]),
    ],
    [
      "an archive in the comment of another",
      "ZIP_GAP",
      () => rawZip([A], { comment: rawZip([B]) }),
    ],
    [
      "trailing bytes",
      "ZIP_TRAILING_DATA",
      () => rawZip([A], { trailing: utf8("x") }),
    ],
    [
      "an archive comment",
      "ZIP_TRAILING_DATA",
      () => rawZip([A], { comment: utf8("hello") }),
    ],
    [
      "an appended signature",
      "ZIP_TRAILING_DATA",
      () => rawZip([A], { trailing: utf8("MCPB_SIG_V1....MCPB_SIG_END") }),
    ],
    [
      "a symlink",
      "ZIP_MODE",
      () => one({ central: { external: 0o120777 * 0x10000 } }),
    ],
    [
      "setuid",
      "ZIP_MODE",
      () => one({ central: { external: 0o104755 * 0x10000 } }),
    ],
    [
      "mode 0777",
      "ZIP_MODE",
      () => one({ central: { external: 0o100777 * 0x10000 } }),
    ],
    [
      "DOS attributes",
      "ZIP_MODE",
      () => one({ central: { external: 0o100644 * 0x10000 + 1 } }),
    ],
    [
      "a maker that has no modes",
      "ZIP_MODE",
      () => one({ central: { madeBy: 20 } }),
    ],
    [
      "an extra field in the directory",
      "ZIP_EXTRA_FIELD",
      () => one({ central: { extra: Uint8Array.of(0x55, 0x54, 0, 0) } }),
    ],
    [
      "an extra field in the local header",
      "ZIP_EXTRA_FIELD",
      () => one({ local: { extra: Uint8Array.of(1, 0, 0, 0) } }),
    ],
    [
      "an entry comment",
      "ZIP_EXTRA_FIELD",
      () => one({ central: { comment: utf8("x") } }),
    ],
    ["encryption", "ZIP_ENCRYPTED", () => one(both({ flags: 1 }))],
    ["strong encryption", "ZIP_ENCRYPTED", () => one(both({ flags: 0x40 }))],
    ["masked headers", "ZIP_ENCRYPTED", () => one(both({ flags: 0x2000 }))],
    ["a wrong CRC", "ZIP_DATA", () => one(both({ crc: 1 }))],
    ["a size too small", "ZIP_DATA", () => one(both({ size: 4 }))],
    ["a size too large", "ZIP_DATA", () => one(both({ size: 6 }))],
    [
      "damaged data",
      "ZIP_DATA",
      () => one({ data: Uint8Array.of(7, 7, 7, 7) }),
    ],
    [
      "cut-off data",
      "ZIP_DATA",
      () => one({ data: deflateRawSync(utf8("hello")).subarray(0, 3) }),
    ],
    ["more than deflate can hold", "ZIP_DATA", () => bomb(2 * MIB)],
    ["a bomb that declares nothing", "ZIP_DATA", () => bomb(10)],
    ["a bomb that declares 4 GiB", "LIMIT_UNPACKED", () => bomb(0xfffffffe)],
    [
      "many entries that are too much together",
      "LIMIT_UNPACKED",
      () =>
        rawZip(Array.from({ length: 3 }, (_, i) => ({
          name: `bomb${i}`,
          data: new Uint8Array(160_000),
          ...both({ size: 150 * MIB }),
        }))),
    ],
    [
      "more entries than allowed",
      "LIMIT_ARCHIVE",
      () =>
        rawZip(
          Array.from(
            { length: ARCHIVE_LIMITS.entries + 1 },
            (_, i) => ({ name: String(i) }),
          ),
        ),
    ],
    [
      "another modification time",
      "ZIP_NOT_CANONICAL",
      () => one(both({ dos: 0x5a3b1c2d })),
    ],
    [
      "stored content",
      "ZIP_NOT_CANONICAL",
      () => one({ data: utf8("hello"), ...both({ method: 0 }) }),
    ],
    [
      "another compression method",
      "ZIP_NOT_CANONICAL",
      () => one(both({ method: 93 })),
    ],
    ["a data descriptor", "ZIP_NOT_CANONICAL", () => one(both({ flags: 8 }))],
    [
      "the UTF-8 flag on an ASCII name",
      "ZIP_NOT_CANONICAL",
      () => one(both({ flags: 0x0800 })),
    ],
    [
      "no UTF-8 flag on another name",
      "ZIP_NOT_CANONICAL",
      () => rawZip([{ name: "ä", ...both({ flags: 0 }) }]),
    ],
    [
      "another maker version",
      "ZIP_NOT_CANONICAL",
      () => one({ central: { madeBy: 0x031e } }),
    ],
    [
      "another needed version",
      "ZIP_NOT_CANONICAL",
      () => one(both({ needed: 45 })),
    ],
    [
      "internal attributes",
      "ZIP_NOT_CANONICAL",
      () => one({ central: { internal: 1 } }),
    ],
    ["entries out of order", "ZIP_NOT_CANONICAL", () => rawZip([B, A])],
    [
      "a folder entry",
      "ZIP_NOT_CANONICAL",
      () =>
        rawZip([{
          name: "a/",
          central: { external: 0o040755 * 0x10000 + 16 },
        }]),
    ],
    [
      "Zip64",
      "ZIP_NOT_CANONICAL",
      () => rawZip([A], { directoryOffset: 0xffffffff }),
    ],
    ["several disks", "ZIP_NOT_CANONICAL", () => rawZip([A], { disk: 1 })],
    ["traversal", "PATH_ILLEGAL", () => rawZip([{ name: "../a" }])],
    ["an absolute path", "PATH_ILLEGAL", () => rawZip([{ name: "/a" }])],
    ["a drive", "PATH_ILLEGAL", () => rawZip([{ name: "C:/a" }])],
    ["a backslash", "PATH_ILLEGAL", () => rawZip([{ name: "a\\b" }])],
    ["a name in NFD", "PATH_ILLEGAL", () => rawZip([{ name: "e\u0301" }])],
    ["a device name", "PATH_ILLEGAL", () => rawZip([{ name: "aux.md" }])],
    [
      "a name that is not UTF-8",
      "PATH_ILLEGAL",
      () => rawZip([{ name: Uint8Array.of(0x61, 0xff) }]),
    ],
    ["a NUL in a name", "PATH_ILLEGAL", () => rawZip([{ name: "a\0.md" }])],
    ["an empty name", "PATH_ILLEGAL", () => rawZip([{ name: "" }])],
    ["./a beside a", "PATH_ILLEGAL", () => rawZip([{ name: "./a" }, A])],
    [
      "names that differ in case",
      "PATH_CASE_COLLISION",
      () => rawZip([{ name: "PLUGIN.JSON" }, { name: "plugin.json" }]),
    ],
    [
      "ß and ss",
      "PATH_CASE_COLLISION",
      () => rawZip([{ name: "ss" }, { name: "ß" }]),
    ],
    [
      "folders that differ in case",
      "PATH_CASE_COLLISION",
      () => rawZip([{ name: "A/x" }, { name: "a/y" }]),
    ],
    [
      "a file that is a folder too",
      "PATH_CASE_COLLISION",
      () => rawZip([{ name: "a" }, { name: "a/b" }]),
    ],
  ];

for (const [what, code, make] of HOSTILE) {
  Deno.test(`DOC-02 DOC-04 readZip() refuses ${what}: ${code}`, async () => {
    const started = performance.now();
    assert.equal((await codes(make()))[0], code);
    assert.ok(performance.now() - started < 5000);
    assert.deepEqual(await codes(await good()), []);
  });
}

Deno.test("the archives of rawZip() pass where nothing is changed", async () => {
  // Which shows that each refusal above is for the one field that was changed.
  assert.deepEqual(await codes(rawZip([A, B])), []);
  assert.deepEqual(await codes(rawZip([{ name: "ä", content: "x" }])), []);
  assert.deepEqual(await codes(rawZip([])), []);
  assert.deepEqual(
    await codes(
      rawZip([{
        name: "zeros",
        data: zeros,
        ...both({ size: MIB, crc: crc32(new Uint8Array(MIB)) }),
      }]),
    ),
    [],
  );
});

Deno.test("DOC-02 readZip() refuses more than the file limit before it reads", async () => {
  const { findings } = await readZip({
    size: 5 * 1024 * MIB,
    read: () => Promise.reject(new Error("read")),
  });
  assert.deepEqual(findings.map(({ code }) => code), ["LIMIT_ARCHIVE"]);
});

Deno.test("DOC-09 readZip() names an mcpb signature", async () => {
  const { findings } = await readZip(
    bytesSource(rawZip([A], { trailing: utf8("MCPB_SIG_V1") })),
  );
  assert.match(findings[0]?.message ?? "", /mcpb/);
});

Deno.test("readZip() escapes a stranger's name before it is shown", async () => {
  const { findings } = await readZip(
    bytesSource(rawZip([{ name: '\u001b[2Ja\u202e"' }])),
  );
  assert.equal(findings[0]?.path, "\\u{1b}[2Ja\\u{202e}\\u{22}");
});

Deno.test("readZip() refuses every flipped bit and every cut of a good archive, but in compressed data", async () => {
  const bytes = await good();
  const original = await readZip(bytesSource(bytes));
  const digests = (entries: typeof original.entries) =>
    entries.map(({ path, mode, sha256 }) => `${path} ${mode} ${sha256}`);
  let passed = 0;
  for (let bit = 0; bit < bytes.length * 8; bit += 3) {
    const mutant = bytes.slice();
    mutant[bit >> 3] = (mutant[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    const reading = await readZip(bytesSource(mutant));
    if (reading.findings.length > 0) continue;
    // Deflate has bits without meaning: the content must then be the same.
    assert.deepEqual(digests(reading.entries), digests(original.entries));
    passed++;
  }
  assert.ok(passed < 12, `${passed} mutants passed`);
  for (let size = 0; size < bytes.length; size += 5) {
    assert.notDeepEqual(await codes(bytes.slice(0, size)), []);
  }
});

// How many bytes of the archive a reading takes.
function counted(bytes: Uint8Array<ArrayBuffer>) {
  const source = bytesSource(bytes);
  let read = 0;
  return {
    size: source.size,
    read: async (offset: number, length: number) => {
      const chunk = await source.read(offset, length);
      read += chunk.length;
      return chunk;
    },
    get bytesRead() {
      return read;
    },
  };
}

Deno.test("readZip() stops at the declared size of a large bomb, and does not start on an impossible one", async () => {
  // 640 MiB of zeros in 650 KB: blocks without an end, again and again.
  const open = deflateRawSync(new Uint8Array(64 * MIB), {
    finishFlush: constants.Z_FULL_FLUSH,
  });
  const data = concat(Array.from({ length: 10 }, () => open));
  const small = counted(
    rawZip([{ name: "bomb", data, ...both({ size: 9 * MIB }) }]),
  );
  const stopped = await readZip(small);
  assert.equal(stopped.findings[0]?.code, "ZIP_DATA");
  assert.ok(small.bytesRead < data.length / 2, `${small.bytesRead} bytes read`);
  const lie = counted(
    rawZip([{ name: "bomb", data: zeros, ...both({ size: 9 * MIB }) }]),
  );
  const refused = await readZip(lie);
  assert.equal(refused.findings[0]?.code, "ZIP_DATA");
  assert.ok(lie.bytesRead < 200, `${lie.bytesRead} bytes read`);
});
