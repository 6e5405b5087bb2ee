/** One command of `cyberos-cuo`, run to its end. */
import type { JsonObject } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import { orAbort } from "../common/deadline.ts";
import type { Launcher } from "./launcher.ts";
import type { Line } from "./line_splitter.ts";

/** What a command is run with. */
export interface CommandOptions {
  readonly args: readonly string[];
  readonly signal: AbortSignal;
  readonly logFields: JsonObject;
  /** Hears each line as it comes. */
  readonly onLine?: (text: string) => void;
}

/** How a command ended. */
export interface CommandEnd {
  readonly code: number;
  readonly lines: readonly string[];
}

const MAX_LINES = 20_000;
const MAX_CHARS = 4 * 1024 * 1024;

/**
 * Runs the command. When the signal aborts, the child and what it started are
 * ended before the promise rejects.
 *
 * @throws {BridgeError} It cannot be started, or it prints more than it may.
 * @throws The signal's reason.
 */
export async function runCommand(
  launcher: Launcher,
  options: CommandOptions,
): Promise<CommandEnd> {
  options.signal.throwIfAborted();
  const output = new Output(options.onLine);
  const child = await launcher.startCommand({
    args: options.args,
    logFields: options.logFields,
    onLine: (line) => output.take(line),
  });
  try {
    const status = await orAbort(
      Promise.race([child.finished(), output.flooded]),
      options.signal,
    );
    return { code: status.code, lines: output.lines };
  } finally {
    await child.stop();
  }
}

class Output {
  readonly lines: string[] = [];
  readonly flooded: Promise<never>;
  readonly #flood: (error: BridgeError) => void;
  readonly #onLine: ((text: string) => void) | undefined;
  #chars = 0;

  constructor(onLine: ((text: string) => void) | undefined) {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => {});
    this.flooded = promise;
    this.#flood = reject;
    this.#onLine = onLine;
  }

  take(line: Line): void {
    if ("fault" in line) {
      if (line.fault === "too long") this.#flood(tooLarge());
      return;
    }
    this.#chars += line.text.length + 1;
    if (this.#chars > MAX_CHARS || this.lines.length >= MAX_LINES) {
      this.#flood(tooLarge());
      return;
    }
    this.lines.push(line.text);
    this.#onLine?.(line.text);
  }
}

function tooLarge(): BridgeError {
  return new BridgeError(
    "UPSTREAM_UNAVAILABLE",
    "CUO gave an answer larger than allowed",
    {
      retryable: false,
      hint:
        "The operator must look at cyberos-cuo: its output passes all bounds.",
    },
  );
}
