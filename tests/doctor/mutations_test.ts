/** Hundreds of good bundles, each damaged at random: none may pass, crash or hang. */
import assert from "node:assert/strict";
import { manifestBytes } from "../../packer/content.ts";
import { memoryEntry } from "../../packer/entry.ts";
import { examineBundle } from "../../packer/doctor/examine.ts";
import { verdictsOf } from "../../packer/doctor/report.ts";
import { rawZip } from "../packer/support/raw_zip.ts";
import { shareSigningStack } from "../support/signing_stack/shared.ts";
import type { SigningStack } from "../support/signing_stack/stack.ts";
import { dissect } from "./support/archive.ts";
import { type MadeBundle, makeBundle, zipOf } from "./support/bundle.ts";

const shared = shareSigningStack();
const SEED = 20261130;
// A hang is what is looked for; how fast a busy machine is does not matter.
const MAX_MS = 5000;

/** Numbers that are the same in every run (mulberry32). */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

type Pick = (below: number) => number;
type Mutation = (bytes: Uint8Array<ArrayBuffer>, pick: Pick) => Uint8Array;

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "a bit flipped": (bytes, pick) => {
    const copy = bytes.slice();
    const at = pick(copy.length);
    copy[at] = (copy[at] ?? 0) ^ (1 << pick(8));
    return copy;
  },
  "a byte replaced": (bytes, pick) => {
    const copy = bytes.slice();
    const at = pick(copy.length);
    copy[at] = ((copy[at] ?? 0) + 1 + pick(255)) & 255;
    return copy;
  },
  "cut off": (bytes, pick) => bytes.subarray(0, pick(bytes.length)),
  "the start cut off": (bytes, pick) => bytes.subarray(1 + pick(bytes.length)),
  "bytes taken out": (bytes, pick) => {
    const at = pick(bytes.length - 16);
    return new Uint8Array([
      ...bytes.subarray(0, at),
      ...bytes.subarray(at + 1 + pick(15)),
    ]);
  },
  "bytes put in": (bytes, pick) => {
    const at = pick(bytes.length + 1);
    const junk = Array.from({ length: 1 + pick(16) }, () => pick(256));
    return new Uint8Array([
      ...bytes.subarray(0, at),
      ...junk,
      ...bytes.subarray(at),
    ]);
  },
  "a block repeated": (bytes, pick) => {
    const at = pick(bytes.length - 64);
    const block = bytes.subarray(at, at + 1 + pick(63));
    return new Uint8Array([
      ...bytes.subarray(0, at),
      ...block,
      ...bytes.subarray(at),
    ]);
  },
  "zeros over a block": (bytes, pick) => {
    const copy = bytes.slice();
    const at = pick(bytes.length - 64);
    copy.fill(copy[at] === 0 ? 1 : 0, at, at + 1 + pick(63));
    return copy;
  },
  "two entries' contents swapped": (bytes, pick) => {
    const entries = dissect(bytes);
    const one = pick(entries.length);
    const two = (one + 1 + pick(entries.length - 1)) % entries.length;
    const [a, b] = [entries[one], entries[two]];
    if (a === undefined || b === undefined) throw new RangeError("No entry");
    [entries[one], entries[two]] = [{ ...b, name: a.name }, {
      ...a,
      name: b.name,
    }];
    return rawZip(entries);
  },
  "an entry left out": (bytes, pick) => {
    const entries = dissect(bytes);
    entries.splice(pick(entries.length), 1);
    return rawZip(entries);
  },
};

/** Damages the manifest's text inside an archive that is sound. */
async function manifestMutation(
  { entries, manifest, manifestPath }: MadeBundle,
  pick: Pick,
): Promise<Uint8Array> {
  const bytes = manifestBytes(manifest);
  const at = pick(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << pick(7));
  const damaged = await memoryEntry(manifestPath, bytes);
  return await zipOf(
    entries.map((entry) => entry.path === manifestPath ? damaged : entry),
  );
}

async function verdicts(
  stack: SigningStack,
  file: string,
  bytes: Uint8Array,
): Promise<readonly string[]> {
  await Deno.writeFile(file, bytes);
  const examination = await examineBundle(file, {
    trustedRoots: [{ name: "test", json: stack.trustedRoot }],
  });
  return verdictsOf(examination);
}

Deno.test("DOC-02 400 bundles damaged at random are refused, without a crash or a hang", async () => {
  const stack = await shared.stack();
  const bundle = await makeBundle(stack);
  const good = await zipOf(bundle.entries);
  const pick = random(SEED);
  const file = await Deno.makeTempFile();
  try {
    const damage = async (name: string, bytes: Uint8Array) => {
      const start = performance.now();
      const found = await verdicts(stack, file, bytes);
      assert.notDeepEqual(found, [], `${name} passes`);
      assert.ok(performance.now() - start < MAX_MS, `${name} takes too long`);
    };
    for (let round = 0; round < 30; round++) {
      for (const [name, mutate] of Object.entries(MUTATIONS)) {
        await damage(`${name}, round ${round}`, mutate(good, pick));
      }
      assert.deepEqual(await verdicts(stack, file, good), []);
    }
    for (let round = 0; round < 100; round++) {
      const name = `a bit of the manifest flipped, round ${round}`;
      await damage(name, await manifestMutation(bundle, pick));
    }
    assert.deepEqual(await verdicts(stack, file, good), []);
  } finally {
    await Deno.remove(file);
  }
});
