/**
 * MCP over standard input and output: one message a line, nothing else on
 * stdout.
 *
 * Source: MCP 2025-11-25, basic/transports, "stdio"; TASK-PLUGIN-002 §1 clause 1.
 */
import type { JsonValue } from "../../schema/json.ts";
import { BridgeError } from "../errors.ts";
import type { Logger } from "../ports.ts";
import type { Principal } from "../types.ts";
import type { Answer } from "../wire/admission.ts";
import { decodeMessage, idOfFault } from "../wire/decode_message.ts";
import { errorAnswer } from "../wire/encode_error.ts";
import { encodeAnswer, encodeMessage } from "../wire/encode_message.ts";
import type { Exchange } from "../wire/exchange.ts";
import type { Protocol } from "../wire/protocol.ts";
import { Session } from "../wire/session.ts";
import { traceIdOf } from "../wire/trace_id.ts";
import { type Line, LineSplitter } from "./line_splitter.ts";
import { type ByteSink, WriteQueue } from "./write_queue.ts";

/** Where the bytes come from, such as `Deno.stdin`. Gives `null` at the end. */
export interface ByteSource {
  /** Fills some of the buffer and says how much. */
  read(buffer: Uint8Array): Promise<number | null>;
}

/** What {@link serveStdio} needs. Times in milliseconds. */
export interface StdioOptions {
  readonly input: ByteSource;
  readonly output: ByteSink;
  /** Ends the connection: SIGTERM, SIGINT. */
  readonly signal: AbortSignal;
  /**
   * Who is calling, asked anew for each request that needs to know.
   *
   * @throws {BridgeError} `TOKEN_MISSING`, `TOKEN_INVALID`, `TOKEN_EXPIRED`, `KEYS_UNAVAILABLE`.
   */
  readonly authenticate: () => Promise<Principal>;
  readonly log: Logger;
  /** A longer line is refused and skipped. Default 10 MiB. */
  readonly maxLineBytes?: number;
  readonly maxJsonDepth?: number;
  /** Requests at once; one more is refused as `BUSY`. Default 64. */
  readonly maxInFlight?: number;
  /** How long requests may go on after the input has ended. Default 1 s. */
  readonly graceMs?: number;
}

const READ_BYTES = 65_536;
const MAX_LINE_BYTES = 10 * 1024 * 1024;
// Answers that wait for a slow host; until they are read, no more requests are.
const MAX_PENDING_CHARS = 16 * 1024 * 1024;
const GRACE_MS = 1000;
const SETTLE_MS = 300;
const FLUSH_MS = 500;

/**
 * Serves one client until the input ends, the client stops reading or the
 * signal aborts; then, within two seconds, lets running requests finish (at the
 * end of input only), aborts the rest and writes what was answered.
 *
 * Never rejects. A read may still be pending when it resolves: the caller ends
 * the process.
 */
export async function serveStdio(
  protocol: Protocol,
  options: StdioOptions,
): Promise<void> {
  await new Connection(protocol, options).serve();
}

class Connection {
  readonly #protocol: Protocol;
  readonly #options: StdioOptions;
  readonly #ending = new AbortController();
  readonly #queue: WriteQueue;
  readonly #exchange: Exchange;
  readonly #running = new Set<Promise<void>>();

  constructor(protocol: Protocol, options: StdioOptions) {
    this.#protocol = protocol;
    this.#options = options;
    this.#queue = new WriteQueue(options.output, (error) => {
      options.log.warn("stdout is closed", { error: nameOf(error) });
      this.#ending.abort(new DOMException("Client has gone", "AbortError"));
    });
    const session = new Session({
      send: (message) => this.#queue.push(encodeMessage(message)),
      signal: this.#ending.signal,
      ...(options.maxInFlight === undefined
        ? {}
        : { maxInFlight: options.maxInFlight }),
    });
    this.#exchange = {
      transport: "stdio",
      signal: this.#ending.signal,
      authenticate: options.authenticate,
      notify: (method, params) =>
        this.#queue.push(encodeMessage({ jsonrpc: "2.0", method, params })),
      session,
    };
  }

  async serve(): Promise<void> {
    const { signal, graceMs = GRACE_MS } = this.#options;
    const gone = whenAborted([signal, this.#ending.signal]);
    await Promise.race([this.#readAll(), gone]);
    await within(graceMs, [this.#settled(), gone]);
    this.#ending.abort(
      new BridgeError("SHUTTING_DOWN", "The bridge is shutting down"),
    );
    await within(SETTLE_MS, [this.#settled()]);
    await within(FLUSH_MS, [this.#queue.flush()]);
  }

  async #readAll(): Promise<void> {
    const { input, maxLineBytes = MAX_LINE_BYTES } = this.#options;
    const splitter = new LineSplitter(maxLineBytes);
    const buffer = new Uint8Array(READ_BYTES);
    try {
      while (!this.#ending.signal.aborted) {
        const count = await input.read(buffer);
        if (count === null) break;
        for (const line of splitter.push(buffer.subarray(0, count))) {
          this.#accept(line);
        }
        await this.#queue.below(MAX_PENDING_CHARS);
      }
      for (const line of splitter.end()) this.#accept(line);
    } catch (error) {
      this.#options.log.warn("stdin cannot be read", { error: nameOf(error) });
    }
  }

  #accept(line: Line): void {
    if (this.#ending.signal.aborted) return;
    let message: JsonValue;
    try {
      message = this.#decode(line);
    } catch (error) {
      const traceId = traceIdOf(undefined);
      this.#options.log.debug("unreadable message", { trace_id: traceId });
      this.#send(errorAnswer(error, { id: idOfFault(error), traceId }));
      return;
    }
    const answer = this.#protocol.handle(message, this.#exchange);
    if (!(answer instanceof Promise)) return this.#send(answer);
    const work = answer
      .then((answer) => this.#send(answer))
      .finally(() => this.#running.delete(work));
    this.#running.add(work);
  }

  #decode(line: Line): JsonValue {
    const { maxLineBytes = MAX_LINE_BYTES, maxJsonDepth } = this.#options;
    if (line.kind === "too long") {
      throw new BridgeError(
        "BODY_TOO_LARGE",
        `The message is longer than ${maxLineBytes} bytes`,
      );
    }
    return decodeMessage(
      line.bytes,
      maxJsonDepth === undefined ? {} : { maxDepth: maxJsonDepth },
    );
  }

  #send(answer: Answer | undefined): void {
    if (answer === undefined) return;
    this.#queue.push(encodeAnswer(answer));
    answer.afterwards?.();
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }
}

/** Resolves when any of the signals aborts. */
function whenAborted(signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    }
  });
}

/** Waits for the first of the promises, at most this long. */
async function within(
  timeoutMs: number,
  promises: readonly Promise<void>[],
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([...promises, timeout]);
  clearTimeout(timer);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
