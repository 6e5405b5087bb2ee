/** A child process of ours: its pipes, its end, and the end of what it started. */
import type { Logger } from "../../ports.ts";
import { settledWithin } from "../common/deadline.ts";
import { type Line, LineSplitter } from "./line_splitter.ts";
import type { ProcessRef, ProcessTree } from "./process_tree.ts";
import { startRefusal } from "./program.ts";

/** How to start a child and whom to tell. */
export interface ChildOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly maxLineBytes: number;
  readonly onLine: (line: Line) => void;
  readonly onErrorLine: (text: string) => void;
  readonly log: Logger;
  readonly times: ChildTimes;
  readonly processTree?: ProcessTree;
}

/** How long a child is given. */
export interface ChildTimes {
  /** From SIGTERM and the end of its stdin to SIGKILL. */
  readonly graceMs: number;
  /** From its exit to letting go of pipes that a descendant may hold open. */
  readonly drainMs: number;
}

const STDERR_LINE_BYTES = 64 * 1024;
const KILL_WAIT_MS = 2_000;
const MAX_UNWANTED_BYTES = 1024 * 1024;

/** A running child. */
export class Child {
  readonly #options: ChildOptions;
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
  readonly #encoder = new TextEncoder();
  readonly #pipes: Promise<unknown>;
  #inputClosed = false;
  #stopping: Promise<void> | undefined;
  #releasing: Promise<void> | undefined;
  #exited = false;
  #known: readonly ProcessRef[] = [];

  /** Settles with the exit of the child itself, whatever holds its pipes. */
  readonly exit: Promise<Deno.CommandStatus>;
  /** Settles when the child's stdout has ended. */
  readonly outputEnd: Promise<void>;

  private constructor(options: ChildOptions, process: Deno.ChildProcess) {
    this.#options = options;
    this.#process = process;
    this.#input = process.stdin.getWriter();
    // A pipe that the child closed is noticed here too, not only in write().
    this.#input.closed.catch(() => {});
    this.exit = process.status;
    this.exit.finally(() => this.#exited = true).catch(() => {});
    this.outputEnd = this.#pump(
      process.stdout,
      options.maxLineBytes,
      options.onLine,
    );
    const errors = this.#pump(process.stderr, STDERR_LINE_BYTES, (line) => {
      options.onErrorLine("text" in line ? line.text : `${line.head}…`);
    });
    this.#pipes = Promise.all([this.outputEnd, errors]);
  }

  /** @throws {BridgeError} `UPSTREAM_NOT_CONFIGURED`, `UPSTREAM_UNAVAILABLE`. */
  static start(options: ChildOptions): Child {
    try {
      const process = new Deno.Command(options.program, {
        args: [...options.args],
        env: { ...options.env },
        clearEnv: true,
        // Piped even where nothing is written: its end tells the child that we are gone.
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      return new Child(options, process);
    } catch (error) {
      throw startRefusal(error);
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Writes one line. Rejects once the child has closed its stdin or is gone. */
  async write(text: string): Promise<void> {
    await this.#input.write(this.#encoder.encode(`${text}\n`));
  }

  /** Ends the child's stdin, by which it learns that nothing more will come. */
  closeInput(): void {
    if (this.#inputClosed) return;
    this.#inputClosed = true;
    // Never awaited: it waits for the bytes before it, which a hung child does not read.
    this.#input.close().catch(() => {});
  }

  /**
   * Waits for the child to end by itself and for the rest of its output.
   * Descendants that hold its pipes are waited for only `drainMs`.
   */
  async finished(): Promise<Deno.CommandStatus> {
    const status = await this.exit;
    await this.#release();
    return status;
  }

  /**
   * Ends the child and what it started: stdin's end and SIGTERM, then SIGKILL.
   * Resolves when the child is gone and its pipes are closed. Never rejects.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    if (!this.#exited) await this.#end();
    await this.#release();
  }

  async #end(): Promise<void> {
    await this.#remember();
    this.closeInput();
    this.#signal("SIGTERM");
    if (await settledWithin(this.exit, this.#options.times.graceMs)) return;
    await this.#remember();
    this.#signal("SIGKILL");
    await settledWithin(this.exit, KILL_WAIT_MS);
  }

  /** Once a child is gone, its orphans cannot be found by parenthood: look before. */
  async #remember(): Promise<void> {
    const found = await this.#options.processTree?.descendants(this.pid) ?? [];
    this.#known = [...this.#known, ...found];
  }

  #release(): Promise<void> {
    this.#releasing ??= this.#letGo();
    return this.#releasing;
  }

  async #letGo(): Promise<void> {
    this.closeInput();
    const { times, log } = this.#options;
    const closed = await settledWithin(this.#pipes, times.drainMs);
    // Whoever holds the pipes of a child that ended by itself may be of its group.
    if (!closed) await this.#remember();
    const killed = await this.#killKnown();
    if (closed) return;
    log.warn("cuo left processes behind that hold its pipes", {
      pid: this.pid,
      killed,
    });
    await Promise.all(
      this.#readers.map((reader) => reader.cancel().catch(() => {})),
    );
  }

  /** Asks until none of them lives: a signal is sent in a moment, and obeyed in another. */
  async #killKnown(): Promise<number> {
    const { processTree } = this.#options;
    if (processTree === undefined || this.#known.length === 0) return 0;
    const killed = await processTree.kill(this.#known);
    for (let left = killed, tries = 0; left > 0 && tries < 10; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      left = await processTree.kill(this.#known);
    }
    return killed;
  }

  #signal(signal: Deno.Signal): void {
    try {
      this.#process.kill(signal);
    } catch {
      // It has exited already.
    }
  }

  async #pump(
    stream: ReadableStream<Uint8Array>,
    maxLineBytes: number,
    onLine: (line: Line) => void,
  ): Promise<void> {
    const splitter = new LineSplitter(maxLineBytes);
    const reader = stream.getReader();
    this.#readers.push(reader);
    let unwanted = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        // What a child says while it is being ended is of no interest, and a
        // stream without end would keep this thread from ending it.
        if (this.#stopping === undefined) splitter.push(value).forEach(onLine);
        else if ((unwanted += value.length) > MAX_UNWANTED_BYTES) break;
      }
    } catch {
      // A broken pipe ends the output like its end does.
    }
    if (unwanted > MAX_UNWANTED_BYTES) await reader.cancel().catch(() => {});
    else splitter.end().forEach(onLine);
  }
}
