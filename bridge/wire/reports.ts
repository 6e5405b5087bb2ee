/** Progress and log messages of one request. */
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { isLogLevel, isShown, type LogLevel } from "../calls/log_level.ts";
import type { Progress } from "../types.ts";
import type { Exchange } from "./exchange.ts";

/** Names the task that a message belongs to. Source: MCP 2025-11-25, basic/utilities/tasks, "Associating Task-Related Messages". */
export function relatedTask(taskId: string): JsonObject {
  return { "io.modelcontextprotocol/related-task": { taskId } };
}

/**
 * Sends progress under the caller's token. The values only ever grow, as MCP
 * demands; a report that does not is dropped.
 *
 * Source: MCP 2025-11-25, basic/utilities/progress.
 */
export class ProgressReporter {
  readonly #exchange: Exchange;
  readonly #token: string | number | undefined;
  #last = -Infinity;
  #taskId: string | undefined;

  /**
   * A token that another running request of the session holds stays with that
   * request: this one then reports nothing.
   */
  constructor(exchange: Exchange, token: string | number | undefined) {
    this.#exchange = exchange;
    const held = exchange.session?.progressTokens;
    this.#token = token === undefined || held?.has(token) ? undefined : token;
    if (this.#token !== undefined) held?.add(this.#token);
  }

  /** Whether anybody listens. */
  get active(): boolean {
    return this.#token !== undefined;
  }

  /** Marks what follows as belonging to a task. */
  attach(taskId: string): void {
    this.#taskId = taskId;
  }

  /** Reports one step. */
  report({ step, total, message }: Progress): void {
    if (this.#token === undefined || !(step > this.#last)) return;
    this.#last = step;
    this.#exchange.notify("notifications/progress", {
      progressToken: this.#token,
      progress: step,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
      ...(this.#taskId === undefined
        ? {}
        : { _meta: relatedTask(this.#taskId) }),
    });
  }

  /** Gives the token back: nothing is reported from here on. */
  end(): void {
    if (this.#token !== undefined) {
      this.#exchange.session?.progressTokens.delete(this.#token);
    }
    this.#last = Infinity;
  }
}

// What a client hears that never set a level: what a tool itself finds worth saying.
const DEFAULT_LEVEL: LogLevel = "info";

/**
 * Makes the senders of a request's log messages. The level is the request's own
 * (`_meta["io.modelcontextprotocol/logLevel"]`, as on HTTP nothing outlives a
 * request), else the session's. What the server says of a call, it says only to
 * a client that set a level.
 *
 * Source: MCP 2025-11-25, server/utilities/logging.
 */
export function logSenders(
  exchange: Exchange,
  meta: JsonObject,
): { tool: LogSender; server: LogSender } {
  const own = meta["io.modelcontextprotocol/logLevel"];
  const asked = isLogLevel(own) ? own : exchange.session?.logLevel;
  return {
    tool: senderFrom(exchange, asked ?? DEFAULT_LEVEL),
    server: asked === undefined ? () => {} : senderFrom(exchange, asked),
  };
}

/** Sends one log message, if its level is high enough. */
export type LogSender = (level: LogLevel, data: JsonValue) => void;

function senderFrom(exchange: Exchange, threshold: LogLevel): LogSender {
  return (level, data) => {
    if (!isShown(level, threshold)) return;
    exchange.notify("notifications/message", {
      level,
      logger: "cyberos-mcp-bridge",
      data,
    });
  };
}
