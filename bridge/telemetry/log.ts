/** The structured log: one JSON object a line on stderr. */
import type { JsonObject } from "../../schema/json.ts";
import type { Clock, Logger } from "../ports.ts";

/** A level of the log; `off` writes nothing. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "off";

/** Levels, least urgent first. */
export const LOG_LEVELS: readonly LogLevel[] = [
  "debug",
  "info",
  "warn",
  "error",
  "off",
];

/** What {@link createLogger} needs. */
export interface LoggerOptions {
  readonly level: LogLevel;
  readonly clock: Clock;
  /** Takes one whole line, with its line feed. It must never write to stdout: that is the protocol's. */
  readonly write: (line: string) => void;
}

/** Creates the log. A line that cannot be written is lost; logging never throws. */
export function createLogger(options: LoggerOptions): Logger {
  const threshold = LOG_LEVELS.indexOf(options.level);
  const at = (level: Exclude<LogLevel, "off">) => {
    const enabled = LOG_LEVELS.indexOf(level) >= threshold;
    return (event: string, fields?: JsonObject): void => {
      if (!enabled) return;
      const time = new Date(options.clock.now()).toISOString();
      try {
        options.write(`${JSON.stringify({ time, level, event, ...fields })}\n`);
      } catch {
        // stderr is gone: there is nowhere left to say so.
      }
    };
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
}

/** Writes whole lines to stderr, synchronously, so that the last one before an exit arrives. */
export function stderrWriter(): (line: string) => void {
  const encoder = new TextEncoder();
  return (line) => {
    const bytes = encoder.encode(line);
    for (let at = 0; at < bytes.length;) {
      at += Deno.stderr.writeSync(bytes.subarray(at));
    }
  };
}
