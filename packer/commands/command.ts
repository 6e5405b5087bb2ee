/** What a subcommand of `cyberos-plugin` is, and what it may touch. */

/** The program's terminal, passed in so that commands can be run in tests. */
export interface Terminal {
  /** Writes all of the text. */
  stdout(text: string): Promise<void>;
  stderr(text: string): Promise<void>;
  /** All of standard input, at most `maxBytes`. */
  stdin(maxBytes: number): Promise<Uint8Array>;
  /**
   * One line from the person at the keyboard, without its line end; `undefined`
   * where there is nobody or no more input. The question goes to stderr.
   */
  ask?(question: string): Promise<string | undefined>;
  /** Whether stderr is a terminal that wants colours (`NO_COLOR` unset). */
  readonly color: boolean;
  /** Whether a person is at the keyboard. */
  readonly interactive: boolean;
}

/** One subcommand. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole `--help` text. */
  readonly help: string;
  /**
   * @returns The exit code: 0 clean, 1 findings or a failed check or a refusal, 2 usage.
   * @throws {UsageError} for wrong flags and arguments.
   */
  run(args: readonly string[], terminal: Terminal): Promise<number>;
}

/** Wrong use of the command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
