/** A JSON text that was read strictly: its value, its places, its faults. */
import type { JsonValue } from "../json.ts";
import { fromPointer } from "../json_pointer.ts";

/** One value's place in the text. Offsets are UTF-16 code units. */
export interface JsonNode {
  /** Where the value starts. */
  readonly start: number;
  /** Where the member's key starts; equal to `start` outside objects. */
  readonly keyStart: number;
  /** Of an array. */
  readonly items?: readonly JsonNode[] | undefined;
  /** Of an object, by their keys. */
  readonly members?: ReadonlyMap<string, JsonNode> | undefined;
}

/** A fault of the text itself. */
export interface JsonFault {
  /** RFC 6901: the innermost value around the fault. */
  readonly json_pointer: string;
  /** The kind of fault. */
  readonly constraint: string;
  /** UTF-16 code units from the start of the text. */
  readonly offset: number;
  /** One sentence, without a full stop. */
  readonly message: string;
  /** What to do, and which rule asks for it. */
  readonly hint: string;
  /** What would be right. */
  readonly expected?: JsonValue;
  /** What was found. */
  readonly actual?: JsonValue;
}

/** A place as editors show it, both from 1, columns in UTF-16 code units. */
export interface TextPosition {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
}

/** What the parser gives. */
export interface JsonReading {
  /** `undefined` where the text could not be read to its end. */
  readonly value?: JsonValue;
  /** The value's place. */
  readonly root?: JsonNode | undefined;
  /** In the order of the text. */
  readonly faults: readonly JsonFault[];
}

/** A text with what strict reading found in it. */
export class JsonDocument {
  /** As it was read; empty where it could not be decoded. */
  readonly text: string;
  /** In the order of the text. */
  readonly faults: readonly JsonFault[];
  /**
   * `undefined` where the text could not be read to its end. Duplicate keys keep
   * their first value; what is no JSON value is null.
   */
  readonly value: JsonValue | undefined;
  /** The value's place, and those of its parts; `undefined` as the value is. */
  readonly root: JsonNode | undefined;
  #lineStarts: number[] | undefined;

  /** Made by `parseStrictJson`. */
  constructor(text: string, { value, root, faults }: JsonReading) {
    this.text = text;
    this.value = value;
    this.faults = faults;
    this.root = root;
  }

  /** The node that the pointer leads to, or the nearest one above it. */
  nearest(pointer: string): JsonNode | undefined {
    let node = this.root;
    for (const token of fromPointer(pointer) ?? []) {
      const next: JsonNode | undefined = node?.members?.get(token) ??
        node?.items?.[Number(token)];
      if (next === undefined) break;
      node = next;
    }
    return node;
  }

  /** Where the pointer's value is, or where the object that lacks it starts. */
  offsetOf(pointer: string): number {
    return this.nearest(pointer)?.start ?? 0;
  }

  /** Line and column of an offset. */
  positionOf(offset: number): TextPosition {
    this.#lineStarts ??= findLineStarts(this.text);
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#lineStarts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return {
      line: low + 1,
      column: offset - (this.#lineStarts[low] as number) + 1,
    };
  }

  /** A line of the text without its line end, from 1. */
  lineText(line: number): string {
    this.#lineStarts ??= findLineStarts(this.text);
    const start = this.#lineStarts[line - 1] ?? this.text.length;
    const end = this.#lineStarts[line] ?? this.text.length;
    return this.text.slice(start, end).replace(/[\r\n]+$/, "");
  }
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) {
    starts.push(match.index + match[0].length);
  }
  return starts;
}
