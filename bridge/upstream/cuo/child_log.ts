/** What a child says on stderr, in our log: cut, cleaned and at a bounded rate. */
import type { JsonObject } from "../../../schema/json.ts";
import type { Logger } from "../../ports.ts";

const MAX_CHARS = 500;
const BURST = 50;
const LINES_PER_SECOND = 10;

/** Takes a child's lines. */
export class ChildLog {
  readonly #log: Logger;
  readonly #fields: () => JsonObject;
  #allowance = BURST;
  #refilledAt: number = performance.now();
  #suppressed = 0;

  /** @param fields What each record carries besides the line: trace id, task id. */
  constructor(log: Logger, fields: () => JsonObject) {
    this.#log = log;
    this.#fields = fields;
  }

  /** Logs one line, or counts it where there are too many. */
  line(text: string): void {
    if (text.trim() === "") return;
    if (!this.#allow()) {
      this.#suppressed++;
      return;
    }
    this.#report();
    this.#log.info("cuo stderr", { ...this.#fields(), line: cleaned(text) });
  }

  /** Says how many lines were left out since the last one. */
  end(): void {
    this.#report();
  }

  #report(): void {
    if (this.#suppressed === 0) return;
    this.#log.warn("cuo stderr lines left out", {
      ...this.#fields(),
      count: this.#suppressed,
    });
    this.#suppressed = 0;
  }

  #allow(): boolean {
    const now = performance.now();
    const refill = (now - this.#refilledAt) / 1000 * LINES_PER_SECOND;
    this.#allowance = Math.min(BURST, this.#allowance + refill);
    this.#refilledAt = now;
    if (this.#allowance < 1) return false;
    this.#allowance--;
    return true;
  }
}

/** Without control characters and what looks like a credential, and not longer than a line of a log. */
export function cleaned(text: string): string {
  const masked = text.slice(0, 4 * MAX_CHARS)
    .replace(/eyJ[\w-]*\.[\w-]+(\.[\w-]*)?/g, "[token]")
    .replace(/\b(bearer|basic)\s+\S+/gi, "$1 [credential]")
    .replace(
      /((?:api[_-]?key|token|secret|password)["']?\s*[=:]\s*)\S+/gi,
      "$1[credential]",
    )
    // deno-lint-ignore no-control-regex
    .replace(/\x1b\[[0-9;]*[A-Za-z]/g, "")
    .replace(/\p{Cc}/gu, " ");
  return masked.length > MAX_CHARS ? `${masked.slice(0, MAX_CHARS)}…` : masked;
}
