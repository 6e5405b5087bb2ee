/** `cyberos-cuo rpc`: many requests over one child, each with a number of ours. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import type { Logger } from "../../ports.ts";
import type { Child } from "./child.ts";
import { settledWithin } from "../common/deadline.ts";
import type { Line } from "./line_splitter.ts";
import {
  encodeNotification,
  encodeRequest,
  parseMessage,
  type RpcMessage,
  RpcRefusal,
} from "./rpc_message.ts";

/** Why a child can answer nothing more. */
export type GoneReason =
  | "exited"
  | "closed its output"
  | "closed its input"
  | "gave an answer larger than allowed"
  | "wrote too much that is no answer"
  | "was stopped";

/** The child went away before it answered. */
export class ChildGone extends Error {
  override readonly name = "ChildGone";
  /**
   * @param reason What happened.
   * @param company How many requests were waiting, this one included.
   */
  constructor(readonly reason: GoneReason, readonly company: number) {
    super(`the child ${reason}`);
  }
}

/** Starts a child with the given handlers. */
export type StartChild = (
  handlers: { readonly onLine: (line: Line) => void },
) => Child;

/** What {@link RpcChild} needs. */
export interface RpcChildOptions {
  readonly start: StartChild;
  readonly log: Logger;
  /** Whether the notification means something; one that does not is noise. */
  readonly onNotification?: (method: string, params: JsonObject) => boolean;
}

/** What a request is told by its caller. */
export interface RpcCall {
  readonly signal: AbortSignal;
  /** For the log: whose request the child was working on when it spoke. */
  readonly traceId: string;
}

interface Waiter {
  readonly method: string;
  readonly traceId: string;
  readonly resolve: (result: JsonValue) => void;
  readonly reject: (error: unknown) => void;
}

// What a noisy child may print between two messages before it counts as broken.
const MAX_NOISE_CHARS = 256 * 1024;
const NOISE_LINES_LOGGED = 5;
const EXIT_SHOWS_MS = 100;
const MAX_ABANDONED = 256;

/**
 * One child and the requests under way on it. It never writes in reaction to
 * what it reads, apart from results reaching their callers: a child that echoes
 * cannot start a ping-pong.
 */
export class RpcChild {
  readonly #options: RpcChildOptions;
  readonly #child: Child;
  readonly #waiting = new Map<number, Waiter>();
  /** Requests whose callers gave up, by number, with the time when they did. */
  readonly #abandoned = new Map<number, number>();
  #nextId = 1;
  #noiseChars = 0;
  #noiseLines = 0;
  #heardAt: number = performance.now();
  #gone: GoneReason | undefined;

  /** Settles once the child can answer nothing more. */
  readonly gone: Promise<GoneReason>;
  readonly #setGone: (reason: GoneReason) => void;

  /** @throws {BridgeError} The child could not be started. */
  constructor(options: RpcChildOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<GoneReason>();
    this.gone = promise;
    this.#setGone = resolve;
    this.#child = options.start({ onLine: (line) => this.#onLine(line) });
    this.#child.exit.then(() => this.#onExit(), () => this.#onExit());
    this.#child.outputEnd.then(() => this.#onOutputEnd());
  }

  /** Whether requests can still be sent. */
  get alive(): boolean {
    return this.#gone === undefined;
  }

  /** The traces of the requests under way. */
  get traceIds(): readonly string[] {
    const ids = [...this.#waiting.values()].map((waiter) => waiter.traceId);
    return [...new Set(ids)].filter((id) => id !== "");
  }

  /** How many requests wait for an answer. */
  get load(): number {
    return this.#waiting.size;
  }

  /** Whether a request may be waiting behind another one: the child was silent for so long. */
  seemsBlocked(forMs: number): boolean {
    return this.#waiting.size + this.#abandoned.size > 1 &&
      performance.now() - this.#heardAt >= forMs;
  }

  /**
   * Whether the child has been silent for so long after a caller gave up that
   * it must be taken for hung.
   */
  seemsHung(afterMs: number): boolean {
    const now = performance.now();
    for (const since of this.#abandoned.values()) {
      if (now - since >= afterMs && this.#heardAt <= since) return true;
    }
    return false;
  }

  /**
   * Sends a request and waits for its answer.
   *
   * @throws {RpcRefusal} CUO answered with an error.
   * @throws {ChildGone} No answer will come.
   * @throws The signal's reason, after CUO was told that nobody waits any more.
   */
  async request(
    method: string,
    params: JsonObject,
    call: RpcCall,
  ): Promise<JsonValue> {
    const { signal, traceId } = call;
    signal.throwIfAborted();
    if (this.#gone !== undefined) throw new ChildGone(this.#gone, 1);
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<JsonValue>();
    this.#waiting.set(id, { method, traceId, resolve, reject });
    const onAbort = () => this.#abandon(id, signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#child.write(encodeRequest(id, method, params))
      .catch(() => this.#end("closed its input"));
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Ends the child and fails what waits on it. */
  async stop(): Promise<void> {
    this.#end("was stopped");
    await this.#child.stop();
  }

  /** Lets the child end by itself, as its closed stdin tells it to; stops it otherwise. */
  async finish(graceMs: number): Promise<void> {
    this.#gone ??= "was stopped";
    this.#child.closeInput();
    const timer = setTimeout(() => this.#child.stop(), graceMs);
    await this.#child.finished();
    clearTimeout(timer);
    await this.#child.stop();
  }

  #abandon(id: number, reason: unknown): void {
    const waiter = this.#waiting.get(id);
    if (waiter === undefined) return;
    this.#waiting.delete(id);
    this.#abandoned.set(id, performance.now());
    if (this.#abandoned.size > MAX_ABANDONED) {
      this.#abandoned.delete(this.#abandoned.keys().next().value!);
    }
    this.#child.write(
      encodeNotification("notifications/cancelled", { requestId: id }),
    ).catch(() => this.#end("closed its input"));
    waiter.reject(reason);
  }

  #onLine(line: Line): void {
    if (this.#gone !== undefined) return;
    if ("fault" in line) {
      if (line.fault === "too long") {
        this.#end("gave an answer larger than allowed");
      } else this.#noise(line.head.length);
      return;
    }
    if (line.text.trim() === "") return;
    const message = parseMessage(line.text);
    if (message === undefined) this.#noise(line.text.length);
    else this.#onMessage(message, line.text.length);
  }

  #onMessage(message: RpcMessage, chars: number): void {
    if (message.kind === "notification") {
      const { method, params } = message;
      if (this.#options.onNotification?.(method, params)) this.#heard();
      else this.#noise(chars);
      return;
    }
    if (this.#abandoned.delete(message.id)) return this.#heard();
    const waiter = this.#waiting.get(message.id);
    // Never to "the oldest waiter": an answer without its question is nobody's.
    if (waiter === undefined) return this.#noise(chars);
    this.#heard();
    this.#waiting.delete(message.id);
    if (message.kind === "result") waiter.resolve(message.result);
    else waiter.reject(new RpcRefusal(waiter.method, message.code));
  }

  #heard(): void {
    this.#heardAt = performance.now();
    this.#noiseChars = 0;
  }

  #noise(chars: number): void {
    this.#noiseLines++;
    this.#noiseChars += chars + 1;
    if (this.#noiseLines <= NOISE_LINES_LOGGED) {
      this.#options.log.warn("cuo wrote a line that is no answer", { chars });
    }
    if (this.#noiseChars > MAX_NOISE_CHARS) {
      this.#end("wrote too much that is no answer");
    }
  }

  async #onExit(): Promise<void> {
    // Its last lines may still be in the pipe.
    await this.#child.finished();
    this.#end("exited");
  }

  async #onOutputEnd(): Promise<void> {
    // An exit closes the pipe first: give it the time to show itself.
    const exited = await settledWithin(this.#child.exit, EXIT_SHOWS_MS);
    this.#end(exited ? "exited" : "closed its output");
  }

  #end(reason: GoneReason): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    const waiters = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const waiter of waiters) {
      waiter.reject(new ChildGone(reason, waiters.length));
    }
    this.#child.stop();
    this.#setGone(reason);
    if (reason !== "was stopped") this.#logEnd(reason);
  }

  async #logEnd(reason: GoneReason): Promise<void> {
    const { code, signal } = await this.#child.exit;
    this.#options.log.warn("cuo child ended", {
      reason,
      exit_code: code,
      signal: signal ?? null,
    });
  }
}
