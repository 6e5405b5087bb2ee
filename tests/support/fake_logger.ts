/** A log that tests can read. */
import type { Logger } from "../../bridge/ports.ts";
import type { JsonObject } from "../../schema/json.ts";

/** One line of the log. */
export interface SeenLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly event: string;
  readonly fields: JsonObject;
}

/** Keeps every line. */
export class FakeLogger implements Logger {
  readonly lines: SeenLine[] = [];

  debug(event: string, fields: JsonObject = {}): void {
    this.lines.push({ level: "debug", event, fields });
  }
  info(event: string, fields: JsonObject = {}): void {
    this.lines.push({ level: "info", event, fields });
  }
  warn(event: string, fields: JsonObject = {}): void {
    this.lines.push({ level: "warn", event, fields });
  }
  error(event: string, fields: JsonObject = {}): void {
    this.lines.push({ level: "error", event, fields });
  }
}
