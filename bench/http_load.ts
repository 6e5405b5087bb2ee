/**
 * A load generator for HTTP/1.1: keep-alive connections that each send the same
 * request again as soon as its answer is whole. Prints one JSON line.
 *
 * Run as a process of its own, so that it shares no event loop with a server:
 * `deno run --allow-net bench/http_load.ts <json of LoadOptions>`.
 */
import { Buffer } from "node:buffer";

/** What to send and how hard. */
export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly warmupMs: number;
  readonly durationMs: number;
  /** The raw requests, sent in turn: head and body as on the wire. */
  readonly requests: readonly string[];
  /** What each answer's body must contain; anything else counts as failed. */
  readonly expect: string;
}

/** What came of it. Latencies in milliseconds. */
export interface LoadResult {
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answered: number;
  readonly failed: number;
}

/** Runs the load in this process. */
export async function generateLoad(options: LoadOptions): Promise<LoadResult> {
  const requests = options.requests.map((text) =>
    new TextEncoder().encode(text)
  );
  const latencies: number[] = [];
  const startsAt = performance.now() + options.warmupMs;
  const endsAt = startsAt + options.durationMs;
  let failed = 0;
  let next = 0;
  const one = async () => {
    const connection = await Deno.connect({ port: options.port });
    connection.setNoDelay(true);
    const buffer = new Uint8Array(256 * 1024);
    for (;;) {
      const request = requests[next++ % requests.length] as Uint8Array;
      const sentAt = performance.now();
      if (sentAt >= endsAt) break;
      await connection.write(request);
      const body = await readAnswer(connection, buffer);
      const now = performance.now();
      if (sentAt < startsAt) continue;
      if (body.includes(options.expect)) latencies.push(now - sentAt);
      else failed++;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: options.connections }, one));
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    latencies[Math.floor(latencies.length * share)] ?? 0;
  return {
    requestsPerSecond: latencies.length / (options.durationMs / 1000),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    answered: latencies.length,
    failed,
  };
}

/** Reads one answer to its end: by Content-Length, or to the last chunk. */
async function readAnswer(
  connection: Deno.Conn,
  buffer: Uint8Array,
): Promise<string> {
  let size = 0;
  for (;;) {
    const count = await connection.read(buffer.subarray(size));
    if (count === null) throw new Error("Server closed the connection");
    size += count;
    const text = Buffer.from(buffer.buffer, 0, size).toString("latin1");
    const head = text.indexOf("\r\n\r\n");
    if (head < 0) continue;
    const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head));
    if (length ? size >= head + 4 + Number(length[1]) : endsChunks(text)) {
      return text.slice(head + 4);
    }
  }
}

function endsChunks(text: string): boolean {
  return text.endsWith("\r\n0\r\n\r\n");
}

if (import.meta.main) {
  const result = await generateLoad(JSON.parse(Deno.args[0] ?? "{}"));
  await Deno.stdout.write(
    new TextEncoder().encode(JSON.stringify(result) + "\n"),
  );
}
