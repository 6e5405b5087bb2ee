/** A stdio host in the same process: bytes in and out of the real transport, every message checked. */
import assert from "node:assert/strict";
import type { Principal } from "../../bridge/types.ts";
import {
  serveStdio,
  type StdioOptions,
} from "../../bridge/transports/stdio.ts";
import type { JsonObject } from "../../schema/json.ts";
import { Harness, type Loose, principal } from "./bridge_harness.ts";
import { assertOutgoing, assertResponse } from "./mcp_schema.ts";

/** What a test may set. */
export interface StdioClientOptions {
  readonly harness?: Harness;
  readonly authenticate?: () => Promise<Principal>;
  readonly serve?: Partial<StdioOptions>;
  /** At most this many bytes are taken by one write of the server's. */
  readonly maxWriteBytes?: number;
}

/** One connection. */
export class StdioClient {
  readonly harness: Harness;
  /** Resolves when the server has ended. */
  readonly served: Promise<void>;
  /** Ends the server as a signal would. */
  readonly stop: AbortController = new AbortController();
  /** Every message of the server's, in order. */
  readonly received: Loose[] = [];
  /** Every byte of the server's. */
  readonly text: string[] = [];
  /** Set to make the next write fail. */
  brokenPipe = false;
  /** Set to make writes wait. */
  gate: Promise<void> = Promise.resolve();
  /** What is answered to a request of the server's; nothing where it gives undefined. */
  onRequest: (request: Loose) => Loose = () => undefined;
  readonly #input: (Uint8Array | null)[] = [];
  readonly #requests = new Map<string, JsonObject>();
  readonly #maxWriteBytes: number;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #wake: (() => void) | undefined;
  #rest = "";
  #arrived: (() => void)[] = [];
  #nextId = 1;

  constructor(options: StdioClientOptions = {}) {
    this.harness = options.harness ?? new Harness();
    this.#maxWriteBytes = options.maxWriteBytes ?? Infinity;
    this.served = serveStdio(this.harness.protocol, {
      input: { read: (buffer) => this.#read(buffer) },
      output: { write: (bytes) => this.#write(bytes) },
      signal: this.stop.signal,
      authenticate: options.authenticate ??
        (() => Promise.resolve(principal())),
      log: this.harness.log,
      ...options.serve,
    });
  }

  /** Gives bytes to the server, as one chunk. */
  sendBytes(bytes: Uint8Array | readonly number[]): void {
    this.#input.push(Uint8Array.from(bytes));
    this.#wake?.();
  }

  /** Gives text to the server, as it stands. */
  sendText(text: string): void {
    this.sendBytes(new TextEncoder().encode(text));
  }

  /** Sends a message. */
  send(message: Loose): void {
    if (message?.id !== undefined && message.method !== undefined) {
      this.#requests.set(keyOf(message.id), message);
    }
    this.sendText(`${JSON.stringify(message)}\n`);
  }

  /** Closes the server's input. */
  end(): void {
    this.#input.push(null);
    this.#wake?.();
  }

  /** Sends a request and waits for its answer. */
  async request(method: string, params?: unknown): Promise<Loose> {
    const id = `c-${this.#nextId++}`;
    this.send({ jsonrpc: "2.0", id, method, ...(params ? { params } : {}) });
    return await this.answerTo(id);
  }

  /** Shakes hands. */
  async initialize(capabilities: JsonObject = {}): Promise<Loose> {
    const answer = await this.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities,
      clientInfo: { name: "test", version: "0.1.0" },
    });
    this.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return answer;
  }

  /** Calls a tool. */
  async tool(
    name: string,
    args?: unknown,
    more: JsonObject = {},
  ): Promise<Loose> {
    return await this.request("tools/call", { name, arguments: args, ...more });
  }

  /** Waits for the answer of this id. */
  async answerTo(id: unknown): Promise<Loose> {
    return await this.until((message) =>
      message.id === id && message.method === undefined
    );
  }

  /** Waits for a message. */
  async until(wanted: (message: Loose) => boolean): Promise<Loose> {
    let at = 0;
    for (;;) {
      for (; at < this.received.length; at++) {
        if (wanted(this.received[at])) return this.received[at];
      }
      await new Promise<void>((resolve) => this.#arrived.push(resolve));
    }
  }

  /** Asks for a pong: what the server had to say before is here then. */
  async settled(): Promise<void> {
    const { result } = await this.request("ping");
    assert.deepEqual(result, {});
  }

  /** Closes the input and waits for the server to end. */
  async close(): Promise<void> {
    this.end();
    await this.served;
  }

  async #read(buffer: Uint8Array): Promise<number | null> {
    while (this.#input.length === 0) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const chunk = this.#input[0];
    if (chunk === null || chunk === undefined) return null;
    const count = Math.min(chunk.length, buffer.length);
    buffer.set(chunk.subarray(0, count));
    if (count < chunk.length) this.#input[0] = chunk.subarray(count);
    else this.#input.shift();
    // The transport must not keep what it was lent.
    return count;
  }

  async #write(bytes: Uint8Array): Promise<number> {
    await this.gate;
    if (this.brokenPipe) throw new Deno.errors.BrokenPipe("gone");
    const count = Math.min(bytes.length, this.#maxWriteBytes);
    const text = this.#decoder.decode(bytes.subarray(0, count), {
      stream: true,
    });
    this.text.push(text);
    this.#rest += text;
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#receive(JSON.parse(line));
    return count;
  }

  #receive(message: Loose): void {
    this.received.push(message);
    for (const arrived of this.#arrived.splice(0)) arrived();
    if (message.method === undefined) {
      const request = this.#requests.get(keyOf(message.id)) ?? {};
      assertResponse(request, message);
      return;
    }
    assertOutgoing(message);
    if (message.id === undefined) return;
    const result = this.onRequest(message);
    if (result !== undefined) {
      this.send({ jsonrpc: "2.0", id: message.id, ...result });
    }
  }
}

function keyOf(id: unknown): string {
  return JSON.stringify(id);
}
