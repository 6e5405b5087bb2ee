/**
 * Authenticated `tools/call` over HTTP beside the echo of MCP's own reference
 * server on Node, which asks nobody for a token: same load, same connections.
 */
import type { LoadOptions, LoadResult } from "./http_load.ts";
import {
  parseRsaPublicKey,
  verifyRsaSignature,
} from "../bridge/auth/rsa_signature.ts";
import type { Bench, Row } from "./row.ts";
import { median, npmPeers, ROOT } from "./support.ts";

const CONNECTIONS = 8;
const ROUNDS = 5;
const PEER = "@modelcontextprotocol/server-everything";

interface Running {
  readonly port: number;
  readonly pid: number;
  /** One request as on the wire. */
  readonly request: string;
  readonly expect: string;
  stop(): Promise<void>;
}

/** Measures; see {@link Bench}. */
export const bench: Bench = async (report) => {
  const peer = await startPeer();
  const computed = await startOurs(0);
  const remembered = await startOurs(4096);
  try {
    const servers = { peer, computed, remembered };
    const results = { peer: [], computed: [], remembered: [] } as Record<
      keyof typeof servers,
      LoadResult[]
    >;
    // In turn, so that all meet the same weather; the first round warms up.
    let warmMb: number | undefined;
    for (let round = 0; round <= ROUNDS; round++) {
      if (round === 2) warmMb = residentMb(remembered.pid);
      for (const name of ["peer", "computed", "remembered"] as const) {
        const result = await load(servers[name]);
        if (result.failed > 0) {
          throw new Error(`${name}: ${result.failed} failed`);
        }
        if (round > 0) results[name].push(result);
      }
    }
    const rate = (name: keyof typeof servers) =>
      median(results[name].map((result) => result.requestsPerSecond));
    const slowest = (name: keyof typeof servers) =>
      median(results[name].map((result) => result.p99Ms));
    for (
      const [name, title, factor] of [
        ["computed", "every signature computed", "≥ 2×"],
        ["remembered", "signatures remembered", "≥ 4×"],
      ] as const
    ) {
      report({
        name: `tools/call over HTTP, ${title}, beside server-everything's echo`,
        ours: rate(name),
        peer: rate("peer"),
        unit: "requests/s",
        aim: factor,
      });
      report({
        name: `p99 of the same, ${title}`,
        ours: slowest(name),
        peer: slowest("peer"),
        unit: "ms",
        aim: "≤ 1×",
      });
    }
    const laterMb = residentMb(remembered.pid);
    if (warmMb !== undefined && laterMb !== undefined) {
      const calls = results.remembered.reduce(
        (sum, one) => sum + one.answered,
        0,
      );
      report({
        name: `memory after ${calls} more calls, beside memory once warm`,
        ours: laterMb,
        peer: warmMb,
        unit: "MB",
        aim: "≤ 1.2×",
      });
    }
    await reportSignatures(report);
  } finally {
    await Promise.all([peer, computed, remembered].map((one) => one.stop()));
  }
};

/** Resident memory, where the system tells it. */
function residentMb(pid: number): number | undefined {
  try {
    const pages = Deno.readTextFileSync(`/proc/${pid}/statm`).split(" ")[1];
    return Number(pages) * 4096 / 2 ** 20;
  } catch {
    return undefined;
  }
}

/** Why signatures are verified by our own arithmetic. */
async function reportSignatures(report: (row: Row) => void): Promise<void> {
  const { exportJWK, generateKeyPair } = await import("jose");
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwk = await exportJWK(publicKey);
  const key = parseRsaPublicKey(jwk.n, jwk.e);
  if (!key) throw new Error("The key cannot be read");
  const scheme = "RSASSA-PKCS1-v1_5";
  const text = "x".repeat(700);
  const bytes = new TextEncoder().encode(text);
  const signature = new Uint8Array(
    await crypto.subtle.sign(scheme, privateKey, bytes),
  );
  const ours = await perSecond(() =>
    verifyRsaSignature(key, "sha256", text, signature)
  );
  const peer = await perSecond(() =>
    crypto.subtle.verify(scheme, publicKey, signature, bytes)
  );
  report({
    name: "RS256 verification over BigInt, beside WebCrypto",
    ours,
    peer,
    unit: "signatures/s",
    aim: "≥ 1.5×",
  });
}

async function perSecond(
  verify: () => boolean | Promise<boolean>,
): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < 6; round++) {
    const began = performance.now();
    for (let times = 0; times < 500; times++) {
      if (!await verify()) throw new Error("A good signature was refused");
    }
    rates.push(500_000 / (performance.now() - began));
  }
  return median(rates.slice(1));
}

async function load(server: Running): Promise<LoadResult> {
  const options: LoadOptions = {
    port: server.port,
    connections: CONNECTIONS,
    warmupMs: 500,
    durationMs: 2_000,
    requests: [server.request],
    expect: server.expect,
  };
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--allow-net=127.0.0.1",
      `${ROOT}bench/http_load.ts`,
      JSON.stringify(options),
    ],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function startOurs(remembered: number): Promise<Running> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "-A",
      `${ROOT}bench/http_server.ts`,
      `${remembered}`,
    ],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const { port, token } = JSON.parse(new TextDecoder().decode(value));
  return {
    port,
    pid: child.pid,
    request: post(port, {
      name: "cyberos.cuo.route",
      arguments: { query: "hello" },
    }, [`Authorization: Bearer ${token}`]),
    expect: "hello",
    async stop() {
      await reader.cancel();
      await kill(child);
    },
  };
}

async function startPeer(): Promise<Running> {
  const folder = await npmPeers([PEER]);
  const port = freePort();
  const child = new Deno.Command("node", {
    args: [`${folder}/node_modules/${PEER}/dist/index.js`, "streamableHttp"],
    env: { PORT: `${port}` },
    stdout: "null",
    stderr: "null",
  }).spawn();
  const session = await openSession(port);
  return {
    port,
    pid: child.pid,
    request: post(port, { name: "echo", arguments: { message: "hello" } }, [
      `Mcp-Session-Id: ${session}`,
    ]),
    expect: "hello",
    stop: () => kill(child),
  };
}

async function openSession(port: number): Promise<string> {
  const send = (message: unknown, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify(message),
    });
  const initialize = {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1.0.0" },
    },
  };
  const response = await retry(() => send(initialize));
  await response.text();
  const session = response.headers.get("mcp-session-id") ?? "";
  const done = { jsonrpc: "2.0", method: "notifications/initialized" };
  await (await send(done, { "mcp-session-id": session })).text();
  return session;
}

async function retry<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0;; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

function post(
  port: number,
  params: unknown,
  headers: readonly string[],
): string {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params,
  });
  return [
    "POST /mcp HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2025-11-25",
    ...headers,
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return listener.addr.port;
}

async function kill(child: Deno.ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await child.status;
}
