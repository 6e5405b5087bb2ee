/**
 * The process's own standard input and output.
 *
 * `Deno.stdin` and `Deno.stdout` hand every read and write to a blocking thread,
 * which costs more than the call that they carry. Where both the runtime and the
 * stream can be polled instead (a pipe or socket; Deno 2.9, not 2.6), a
 * connection that is really used changes over to `node:net`. Its import takes
 * longer than the whole start-up, so the first messages do not wait for it.
 */
import type { Socket } from "node:net";
import type { ByteSource } from "./stdio.ts";
import type { ByteSink } from "./write_queue.ts";

type Net = typeof import("node:net");

// Handshake and list are over by then: whoever goes on will call tools.
const READS_BEFORE_POLLING = 6;
const MAX_WAITING_BYTES = 1024 * 1024;

/** Both streams of this process. They are nobody else's from here on. */
export function processStreams(): { input: ByteSource; output: ByteSink } {
  const polling = new Polling();
  return {
    input: new ProcessInput(polling),
    output: new ProcessOutput(polling),
  };
}

/** The library, once it is there and where it can be used. */
class Polling {
  #reads = 0;
  net: Net | undefined;

  countRead(): void {
    if (++this.#reads !== READS_BEFORE_POLLING) return;
    if (Deno.build.os === "windows") return;
    import("node:net").then((net) => this.net = net, () => {});
  }

  /** A socket over the descriptor; nothing where it is a file or a terminal, or the runtime cannot. */
  open(fd: 0 | 1): Socket | undefined {
    if (this.net === undefined) return undefined;
    try {
      return new this.net.Socket({
        fd,
        readable: fd === 0,
        writable: fd === 1,
      });
    } catch {
      return undefined;
    }
  }
}

class ProcessInput implements ByteSource {
  readonly #polling: Polling;
  #polled: PolledInput | undefined;
  #tried = false;

  constructor(polling: Polling) {
    this.#polling = polling;
  }

  read(buffer: Uint8Array): Promise<number | null> {
    // Only between two reads: a pending one would take bytes from the socket.
    if (!this.#tried && this.#polling.net !== undefined) {
      this.#tried = true;
      const socket = this.#polling.open(0);
      this.#polled = socket && new PolledInput(socket);
    }
    if (this.#polled !== undefined) return this.#polled.read(buffer);
    this.#polling.countRead();
    return Deno.stdin.read(buffer);
  }
}

class PolledInput implements ByteSource {
  readonly #socket: Socket;
  #waiting: Uint8Array[] = [];
  #size = 0;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Uint8Array) => this.#take(chunk));
    for (const event of ["end", "close", "error"]) {
      socket.on(event, () => {
        this.#ended = true;
        this.#wake?.();
      });
    }
  }

  async read(buffer: Uint8Array): Promise<number | null> {
    while (this.#waiting.length === 0) {
      if (this.#ended) return null;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const chunk = this.#waiting[0] as Uint8Array;
    const count = Math.min(chunk.length, buffer.length);
    buffer.set(chunk.subarray(0, count));
    if (count < chunk.length) this.#waiting[0] = chunk.subarray(count);
    else this.#waiting.shift();
    this.#size -= count;
    if (this.#size <= MAX_WAITING_BYTES) this.#socket.resume();
    return count;
  }

  #take(chunk: Uint8Array): void {
    this.#waiting.push(chunk);
    this.#size += chunk.length;
    if (this.#size > MAX_WAITING_BYTES) this.#socket.pause();
    this.#wake?.();
  }
}

class ProcessOutput implements ByteSink {
  readonly #polling: Polling;
  #socket: Socket | undefined;
  #tried = false;

  constructor(polling: Polling) {
    this.#polling = polling;
  }

  write(bytes: Uint8Array): Promise<number> {
    if (!this.#tried && this.#polling.net !== undefined) {
      this.#tried = true;
      this.#socket = this.#polling.open(1);
      // The write that failed says so itself; without a listener the process would end.
      this.#socket?.on("error", () => {});
    }
    const socket = this.#socket;
    if (socket === undefined) return Deno.stdout.write(bytes);
    return new Promise((resolve, reject) => {
      socket.write(bytes, (error) => {
        if (error) reject(error);
        else resolve(bytes.length);
      });
    });
  }
}
