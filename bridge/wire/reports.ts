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

// What a client hears that never asked: what tools themselves find worth saying.
const DEFAULT_LEVEL: LogLevel = "info";

/** The level that holds for a request: its own (`_meta`), else the session's, else none that was asked for. */
export function requestedLevel(
  exchange: Exchange,
  meta: JsonObject,
): LogLevel | undefined {
  const own = meta["io.modelcontextprotocol/logLevel"];
  return isLogLevel(own) ? own : exchange.session?.logLevel;
}

/** Makes the sender of a request's log messages. */
export function logSender(
  exchange: Exchange,
  meta: JsonObject,
): (level: LogLevel, data: JsonValue) => void {
  const threshold = requestedLevel(exchange, meta) ?? DEFAULT_LEVEL;
  return (level, data) => {
    if (!isShown(level, threshold)) return;
    exchange.notify("notifications/message", {
      level,
      logger: "cyberos-mcp-bridge",
      data,
    });
  };
}
