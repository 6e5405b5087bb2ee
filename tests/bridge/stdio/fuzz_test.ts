/** Random and mutated frames: whatever comes, the next valid request is answered. */
import assert from "node:assert/strict";
import { serveStdio } from "../../../bridge/transports/stdio.ts";
import { Harness, principal, RUN } from "../../support/bridge_harness.ts";

// A long run: CYBEROS_FUZZ_FRAMES=1000000.
const FRAMES = Number(readEnv("CYBEROS_FUZZ_FRAMES") ?? 100_000);
const SEED = Number(readEnv("CYBEROS_FUZZ_SEED") ?? 20_251_125);

function readEnv(name: string): string | undefined {
  return Deno.permissions.querySync({ name: "env", variable: name }).state ===
      "granted"
    ? Deno.env.get(name)
    : undefined;
}

/** mulberry32: small, seeded, good enough to choose bytes. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const CORPUS: readonly string[] = [
  { method: "initialize", params: { protocolVersion: "2025-11-25" } },
  { method: "ping" },
  { method: "tools/list", params: {} },
  { method: "logging/setLevel", params: { level: "debug" } },
  {
    method: "tools/call",
    params: { name: "cyberos.cuo.route", arguments: { query: "né 𝄞" } },
  },
  {
    method: "tools/call",
    params: {
      name: "cyberos.cuo.execute_workflow",
      arguments: RUN,
      task: { ttl: 60 },
      _meta: { progressToken: "p" },
    },
  },
  {
    method: "tools/call",
    params: {
      name: "cyberos.memory.read_audit",
      arguments: { limit: 5, since_seq: 0 },
    },
  },
  { method: "tasks/get", params: { taskId: "t-1", id: "t-1" } },
  { method: "tasks/list", params: { cursor: "0" } },
].map((message) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }))
  .concat([
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
    '{"jsonrpc":"2.0","id":"cyberos-1","result":{"action":"accept"}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
    "[]",
    "{}",
    "null",
  ]);

const BITS: readonly string[] = [
  "null",
  "true",
  "-1",
  "1e400",
  "9007199254740993",
  '""',
  '"__proto__"',
  "[]",
  "{}",
  '"\\ud800"',
  "[[[[",
  "}",
  '"',
  ",",
  "\\",
  "\u2028",
  "\ufeff",
];

function mutate(random: (below: number) => number): Uint8Array {
  const encoder = new TextEncoder();
  const frame = CORPUS[random(CORPUS.length)] as string;
  const at = random(frame.length + 1);
  switch (random(8)) {
    case 0:
      return encoder.encode(frame);
    case 1:
      return encoder.encode(frame.slice(0, at));
    case 2:
      return encoder.encode(
        frame.slice(0, at) + BITS[random(BITS.length)] + frame.slice(at),
      );
    case 3:
      return encoder.encode(
        frame.replace(/"[^"]*"/, BITS[random(BITS.length)] as string),
      );
    case 4:
      return encoder.encode(frame.replaceAll(/:1\b/g, `:${random(5)}`));
    case 5: {
      const bytes = encoder.encode(frame);
      bytes[random(bytes.length)] = random(256);
      return bytes;
    }
    case 6:
      return encoder.encode(
        frame.replace(
          /:("[^"]*"|\d+|\{\})/g,
          (whole) => random(3) === 0 ? `:${BITS[random(12)]}` : whole,
        ),
      );
    default:
      return Uint8Array.from(
        { length: random(200) },
        () => random(256),
      );
  }
}

Deno.test(`STD-06 ${FRAMES} random and mutated frames: no crash, and every valid request after them is answered`, async () => {
  const random = randomFrom(SEED);
  const harness = new Harness();
  let sent = 0;
  let pings = 0;
  const pongs = new Set<string>();
  const problems: string[] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  const encoder = new TextEncoder();
  await serveStdio(harness.protocol, {
    input: {
      read: (buffer) => {
        if (sent >= FRAMES) return Promise.resolve(null);
        let size = 0;
        const give = (bytes: Uint8Array): void => {
          buffer.set(bytes, size);
          size += bytes.length;
          buffer[size++] = 0x0a;
        };
        for (let n = random(120) + 1; n > 0; n--, sent++) give(mutate(random));
        give(encoder.encode(
          `{"jsonrpc":"2.0","id":"ping-${++pings}","method":"ping"}`,
        ));
        return new Promise((resolve) => setTimeout(() => resolve(size), 0));
      },
    },
    output: {
      write: (bytes) => {
        rest += decoder.decode(bytes, { stream: true });
        const lines = rest.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) inspect(line);
        return Promise.resolve(bytes.length);
      },
    },
    signal: new AbortController().signal,
    authenticate: () => Promise.resolve(principal()),
    log: harness.log,
  });
  function inspect(line: string): void {
    const message = JSON.parse(line);
    if (message.jsonrpc !== "2.0") problems.push(line);
    if (/^ping-/.test(message.id)) pongs.add(message.id);
    // A bug of ours is what this test looks for.
    if (message.error?.code === -32603) problems.push(line);
    if ("result" in message === "error" in message && !message.method) {
      problems.push(line);
    }
  }
  assert.deepEqual(problems.slice(0, 3), []);
  assert.equal(pongs.size, pings);
  assert.ok(harness.upstreams.calls.length > 0, "some calls were valid");
  assert.deepEqual(
    harness.log.lines.filter(({ level }) => level === "error").slice(0, 3),
    [],
  );
});
