/** Random and mutated requests: whatever comes, the next valid one is answered. */
import assert from "node:assert/strict";
import {
  makeHandler,
  PING,
  rawPost,
  sendRaw,
  statusOf,
  TOKEN,
  toolCall,
  withBridge,
} from "./support.ts";

// A long run: CYBEROS_FUZZ_FRAMES=1000000.
const FRAMES = Number(
  Deno.env.get("CYBEROS_FUZZ_FRAMES") ??
    (Deno.env.get("CI") ? 100_000 : 20_000),
);
const SEED = Number(Deno.env.get("CYBEROS_FUZZ_SEED") ?? 20_251_125);
/** The fakes keep what they see: new ones now and then bound that. */
const FRAMES_PER_BRIDGE = 5_000;

type Random = (below: number) => number;

/** mulberry32: small, seeded, good enough to choose bytes. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const BODIES: readonly string[] = [
  PING,
  { ...PING, method: "tools/list", params: {} },
  { ...PING, method: "initialize", params: { protocolVersion: "2025-11-25" } },
  { ...PING, method: "tasks/get", params: { taskId: "t-1" } },
  { jsonrpc: "2.0", method: "notifications/cancelled", params: {} },
  toolCall("cyberos.cuo.route", { query: "né 𝄞" }),
  toolCall("cyberos.memory.read_audit", { limit: 5 }, {
    _meta: { progressToken: "p" },
  }),
].map((body) => JSON.stringify(body));

const PIECES: readonly string[] = [
  "null",
  "-1",
  "1e400",
  '"__proto__"',
  '"\\ud800"',
  "[[[[",
  "}",
  '"',
  ",",
  "\u0000",
  "\ufeff",
  "é",
];

const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ["authorization", [`Bearer ${TOKEN}`, "Bearer x", "Basic x", ""]],
  ["content-type", ["application/json", "text/plain", "a/b;c", ""]],
  ["accept", ["text/event-stream", "application/json", "*/*", "x;q=2"]],
  ["mcp-protocol-version", ["2025-11-25", "2024-11-05", "x"]],
  ["origin", ["https://evil.example", "null", ""]],
  ["host", ["localhost", "evil.example", "[::1]:1", "a b", ""]],
  ["traceparent", ["00-" + "a".repeat(32) + "-" + "b".repeat(16) + "-01", "x"]],
  ["x-tenant-id", ["x", "11111111-1111-4111-8111-111111111111"]],
  ["content-encoding", ["gzip", "identity"]],
  ["mcp-session-id", ["x"]],
];

const PATHS = [
  "/mcp",
  "/mcp",
  "/mcp",
  "/mcp/",
  "/healthz",
  "/",
  "/mcp?tenant=x",
];
const METHODS = ["POST", "POST", "POST", "GET", "DELETE", "OPTIONS", "PUT"];

function pick<T>(random: Random, values: readonly T[]): T {
  return values[random(values.length)] as T;
}

function mutate(random: Random): Uint8Array<ArrayBuffer> {
  let text = pick(random, BODIES);
  for (let times = random(4); times > 0; times--) {
    const at = random(text.length + 1);
    text = text.slice(0, at) + pick(random, PIECES) +
      text.slice(at + random(3) * random(8));
  }
  const bytes = new TextEncoder().encode(text);
  if (random(4) === 0 && bytes.length > 0) {
    bytes[random(bytes.length)] = random(256);
  }
  return random(9) === 0 ? bytes.slice(0, random(bytes.length + 1)) : bytes;
}

function makeRequest(random: Random): Request {
  const headers = new Headers({
    host: "localhost",
    authorization: `Bearer ${TOKEN}`,
    "content-type": "application/json",
  });
  for (let times = random(3); times > 0; times--) {
    const [name, values] = pick(random, HEADERS);
    headers.set(name, pick(random, values));
  }
  const method = pick(random, METHODS);
  return new Request(`http://localhost${pick(random, PATHS)}`, {
    method,
    headers,
    ...(method === "POST" || method === "PUT" ? { body: mutate(random) } : {}),
  });
}

const STATUSES = new Set([200, 202, 204, 400, 401, 403, 404, 405, 415]);

Deno.test(`createHttpHandler() answers ${FRAMES} random requests and the valid one after them`, async () => {
  const random = randomFrom(SEED);
  for (let done = 0; done < FRAMES; done += FRAMES_PER_BRIDGE) {
    const { handler, log, harness } = makeHandler();
    for (let frame = 0; frame < FRAMES_PER_BRIDGE; frame++) {
      const response = await handler(makeRequest(random));
      assert(STATUSES.has(response.status), `${response.status} at ${frame}`);
      const text = await response.text();
      if (response.headers.get("content-type") === "application/json") {
        JSON.parse(text);
      }
      assert(!text.includes(TOKEN));
    }
    const valid = await handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: {
          authorization: `Bearer ${TOKEN}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(PING),
      }),
    );
    assert.deepEqual(await valid.json(), { jsonrpc: "2.0", id: 1, result: {} });
    for (const lines of [log.lines, harness.log.lines]) {
      assert(!lines.some(({ event }) => event === "panic"), "a bug was found");
    }
  }
});

const RAW = Math.min(FRAMES / 100, 5_000);

Deno.test(`serveHttp() survives ${RAW} connections of mangled HTTP`, async () => {
  await withBridge(
    { limits: { idleTimeoutMs: 100 } },
    async ({ port, log }) => {
      const random = randomFrom(SEED);
      const body = BODIES[0] ?? "";
      const good =
        `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      const one = async () => {
        const bytes = new TextEncoder().encode(good);
        for (let times = 1 + random(6); times > 0; times--) {
          bytes[random(bytes.length)] = random(256);
        }
        await sendRaw(port, bytes, 50);
      };
      for (let done = 0; done < RAW; done += 50) {
        await Promise.all(Array.from({ length: 50 }, one));
      }
      assert.equal(statusOf(await rawPost(port, [])), 200);
      assert(!log.lines.some(({ event }) => event === "panic"));
    },
  );
});
