/** Gathers faults, bounds their number, gives them places. */
import type { Finding, Severity } from "./finding.ts";
import { showValue } from "./finding.ts";
import type { JsonValue } from "./json.ts";
import type { JsonDocument, JsonNode } from "./strict_json/mod.ts";

/** A finding before it has a place. */
export interface Fault {
  readonly json_pointer: string;
  readonly constraint: string;
  readonly expected?: JsonValue;
  readonly actual?: JsonValue;
  readonly message: string;
  readonly hint: string;
  /** Default: error. */
  readonly severity?: Severity;
  /** The key is to blame, not its value. */
  readonly atKey?: boolean;
}

const MAX_LINE = 300;

/** So many findings that nobody reads on. */
export const MAX_FINDINGS = 200;

/** Takes faults until it is full. */
export class FaultCollector {
  readonly #faults: Fault[] = [];
  readonly #silent: readonly string[];
  #dropped = false;
  #exclusive = false;

  /** @param silent Pointers about which nothing more can be said: their text is broken. */
  constructor(silent: readonly string[] = []) {
    this.#silent = silent;
  }

  /** No more is taken: checks may stop. */
  get full(): boolean {
    return this.#dropped;
  }

  /** Something is said about this place already. */
  has(pointer: string): boolean {
    return this.#faults.some(({ json_pointer }) => json_pointer === pointer);
  }

  /** Keeps the fault unless it lies in broken text or there are enough. */
  add(fault: Fault): void {
    if (this.#silent.some((at) => isWithin(fault.json_pointer, at))) return;
    if (this.#faults.length >= MAX_FINDINGS) this.#dropped = true;
    else this.#faults.push(fault);
  }

  /** Says this and nothing else, whatever was or will be found: the file is no manifest of ours. */
  addOnly(fault: Fault): void {
    this.#faults.splice(0, this.#faults.length, fault);
    this.#exclusive = true;
  }

  /** One finding says it all. */
  get exclusive(): boolean {
    return this.#exclusive;
  }

  /** The findings with their places, in the order in which they were found. */
  place(document: JsonDocument): Finding[] {
    return this.#faults.map((fault) =>
      toFinding(fault, placeAt(document, offsetOf(document, fault)))
    );
  }
}

/** Where a finding is. */
export type Place = Pick<Finding, "line" | "column" | "excerpt" | "file">;

/** The place of an offset in the manifest. */
export function placeAt(document: JsonDocument, offset: number): Place {
  const position = document.positionOf(offset);
  return { ...position, excerpt: cutLine(document.lineText(position.line)) };
}

/** A line short enough to show. */
export function cutLine(line: string): string {
  return line.length <= MAX_LINE
    ? line
    : `${line.slice(0, MAX_LINE).toWellFormed()}…`;
}

/** The fault with its place. */
export function toFinding(
  fault: Omit<Fault, "atKey">,
  place: Place,
): Finding {
  const { json_pointer, constraint, expected, actual, message, hint } = fault;
  return {
    json_pointer,
    constraint,
    ...(expected === undefined ? {} : { expected }),
    ...(actual === undefined ? {} : { actual: showValue(actual) }),
    message,
    hint,
    severity: fault.severity ?? "error",
    ...place,
  };
}

function offsetOf(document: JsonDocument, fault: Fault): number {
  const node: JsonNode | undefined = document.nearest(fault.json_pointer);
  return (fault.atKey ? node?.keyStart : node?.start) ?? 0;
}

function isWithin(pointer: string, ancestor: string): boolean {
  return pointer === ancestor || pointer.startsWith(`${ancestor}/`);
}
