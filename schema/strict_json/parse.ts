/**
 * Reads JSON and reports whatever RFC 8259 forbids or leaves to luck, with its
 * place, going on after each fault that leaves no doubt about the rest.
 */
import type { JsonValue } from "../json.ts";
import { escapeToken } from "../json_pointer.ts";
import { decodeUtf8, tooLarge } from "./decode.ts";
import type { JsonFault, JsonNode } from "./document.ts";
import { JsonDocument } from "./document.ts";
import type { JsonLimits } from "./limits.ts";
import { MANIFEST_LIMITS } from "./limits.ts";
import { survives } from "./numbers.ts";
import type { FaultName } from "./faults.ts";
import { describeFault, quote } from "./faults.ts";
import { readString } from "./strings.ts";

/**
 * Parses JSON strictly. Never throws.
 *
 * @param source Text, or bytes that must be UTF-8.
 * @returns The value with the places of its parts, and every fault.
 */
export function parseStrictJson(
  source: string | Uint8Array,
  limits: JsonLimits = MANIFEST_LIMITS,
): JsonDocument {
  if (typeof source !== "string") {
    const decoded = decodeUtf8(source, limits);
    return decoded.text === undefined
      ? new JsonDocument("", undefined, [decoded.fault])
      : new Parser(decoded.text, limits).run();
  }
  return source.length > limits.maxBytes
    ? new JsonDocument("", undefined, [
      tooLarge(limits.maxBytes),
    ])
    : new Parser(source, limits).run();
}

/** Thrown inside the parser where nothing sure can be said about the rest. */
class Unreadable extends Error {}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[^\s,:{}[\]"]+/y;
const LITERALS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

class Parser {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #faults: JsonFault[] = [];
  readonly #wellFormed: boolean;
  /** Only asked for positions. */
  readonly #places: JsonDocument;
  #at = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
    this.#wellFormed = text.isWellFormed();
    this.#places = new JsonDocument(text, undefined, []);
  }

  run(): JsonDocument {
    let root: JsonNode | undefined;
    try {
      while (this.#text.charCodeAt(this.#at) === 0xfeff) {
        this.#fault("byte_order_mark", "", this.#at++);
      }
      root = this.#value("", 0, -1);
      this.#skip("");
      if (this.#at < this.#text.length) {
        this.#fault("trailing_text", "", this.#at, this.#found());
      }
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      root = undefined;
    }
    return new JsonDocument(this.#text, root, this.#faults);
  }

  #fault(
    name: FaultName,
    pointer: string,
    offset: number,
    found: string = "",
  ): void {
    this.#faults.push(describeFault(name, pointer, offset, found));
    if (this.#faults.length >= this.#limits.maxFaults) throw new Unreadable();
  }

  #fatal(name: FaultName, pointer: string, found: string = ""): never {
    this.#faults.push(describeFault(name, pointer, this.#at, found));
    throw new Unreadable();
  }

  /** White space, and comments with a fault each. */
  #skip(pointer: string): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
        this.#at++;
      } else if (code === 0x2f || code === 0x23) {
        this.#skipComment(pointer, code === 0x23);
      } else return;
    }
  }

  #skipComment(pointer: string, hash: boolean): void {
    const start = this.#at;
    const block = this.#text.startsWith("/*", start);
    if (!hash && !block && !this.#text.startsWith("//", start)) {
      this.#fatal("syntax", pointer, this.#found());
    }
    const end = block
      ? this.#text.indexOf("*/", start + 2)
      : this.#text.slice(start).search(/[\r\n]/) + start;
    if (block && end < 0) this.#fatal("comment", pointer);
    this.#at = block ? end + 2 : end < start ? this.#text.length : end;
    this.#fault("comment", pointer, start);
  }

  #value(pointer: string, depth: number, keyStart: number): JsonNode {
    this.#skip(pointer);
    const start = this.#at;
    const place = { start, keyStart: keyStart < 0 ? start : keyStart };
    switch (this.#text.charCodeAt(start)) {
      case 0x7b:
        return this.#object(pointer, this.#deeper(pointer, depth), place);
      case 0x5b:
        return this.#array(pointer, this.#deeper(pointer, depth), place);
      case 0x22:
        return { ...place, value: this.#string(pointer) };
      default:
        return this.#scalar(pointer, place);
    }
  }

  #deeper(pointer: string, depth: number): number {
    if (depth >= this.#limits.maxDepth) {
      this.#fatal("max_depth", pointer, String(this.#limits.maxDepth));
    }
    return depth + 1;
  }

  #object(
    pointer: string,
    depth: number,
    place: { start: number; keyStart: number },
  ): JsonNode {
    const members = new Map<string, JsonNode>();
    const value: Record<string, JsonValue> = {};
    this.#at++;
    for (let count = 0; this.#more(pointer, "}", count); count++) {
      const keyStart = this.#at;
      if (this.#text.charCodeAt(keyStart) !== 0x22) {
        this.#fatal("key", pointer, this.#found());
      }
      const key = this.#string(pointer);
      const child = `${pointer}/${escapeToken(key)}`;
      this.#skip(child);
      if (this.#text.charCodeAt(this.#at) !== 0x3a) {
        this.#fatal("colon", child, this.#found());
      }
      this.#at++;
      const node = this.#value(child, depth, keyStart);
      if (this.#keeps(key, child, keyStart, members)) {
        members.set(key, node);
        value[key] = node.value;
      }
    }
    return { ...place, value, members };
  }

  /** Whether the member counts: not a second one of its name, not `__proto__`. */
  #keeps(
    key: string,
    pointer: string,
    keyStart: number,
    members: ReadonlyMap<string, JsonNode>,
  ): boolean {
    const first = members.get(key);
    if (first !== undefined) {
      const a = this.#places.positionOf(first.keyStart);
      const b = this.#places.positionOf(keyStart);
      this.#fault(
        "duplicate_key",
        pointer,
        keyStart,
        `${quote(key)} at ${a.line}:${a.column} and ${b.line}:${b.column}`,
      );
      return false;
    }
    if (key !== "__proto__") return true;
    this.#fault("proto_key", pointer, keyStart);
    return false;
  }

  #array(
    pointer: string,
    depth: number,
    place: { start: number; keyStart: number },
  ): JsonNode {
    const items: JsonNode[] = [];
    this.#at++;
    while (this.#more(pointer, "]", items.length)) {
      items.push(this.#value(`${pointer}/${items.length}`, depth, -1));
    }
    return { ...place, value: items.map((item) => item.value), items };
  }

  /** Stands before the next member or item; false after the closing bracket. */
  #more(pointer: string, close: "}" | "]", count: number): boolean {
    this.#skip(pointer);
    if (this.#text[this.#at] === close) {
      this.#at++;
      return false;
    }
    if (count > 0) {
      const comma = this.#at;
      if (this.#text.charCodeAt(comma) !== 0x2c) {
        this.#fatal("comma", pointer, this.#found());
      }
      this.#at++;
      this.#skip(pointer);
      if (this.#text[this.#at] === close) {
        this.#fault("trailing_comma", pointer, comma);
        this.#at++;
        return false;
      }
    }
    if (count >= this.#limits.maxMembers) {
      this.#fatal("max_members", pointer, String(this.#limits.maxMembers));
    }
    return true;
  }

  #string(pointer: string): string {
    const read = readString(this.#text, this.#at);
    if (read.end < 0) this.#fatal("unterminated_string", pointer);
    for (const fault of read.faults) {
      this.#fault(fault.name, pointer, fault.offset, fault.found);
    }
    const start = this.#at;
    this.#at = read.end;
    if (read.plain && this.#wellFormed) return read.value;
    if (read.value.isWellFormed()) return read.value;
    this.#fault("lone_surrogate", pointer, start);
    return read.value.toWellFormed();
  }

  #scalar(
    pointer: string,
    place: { start: number; keyStart: number },
  ): JsonNode {
    const word = this.#peekWord();
    if (word === "") {
      this.#fatal(
        this.#at < this.#text.length ? "syntax" : "end_of_text",
        pointer,
        this.#found(),
      );
    }
    this.#at += word.length;
    const literal = LITERALS.get(word);
    if (literal !== undefined) return { ...place, value: literal };
    NUMBER.lastIndex = 0;
    if (NUMBER.exec(word)?.[0] === word) {
      if (!survives(word)) {
        this.#fault("number_range", pointer, place.start, quote(word));
      }
      const read = Number(word);
      return { ...place, value: Number.isFinite(read) ? read : 0 };
    }
    this.#fault("not_json_value", pointer, place.start, quote(word));
    return { ...place, value: null };
  }

  /** What stands here, in quotes. */
  #found(): string {
    if (this.#at >= this.#text.length) return "end of the file";
    return quote(this.#peekWord() || this.#text.charAt(this.#at));
  }

  #peekWord(): string {
    WORD.lastIndex = this.#at;
    return WORD.exec(this.#text)?.[0] ?? "";
  }
}
