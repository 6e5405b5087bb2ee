/**
 * Reads JSON and reports whatever RFC 8259 forbids or leaves to luck, with its
 * place, going on after each fault that leaves no doubt about the rest.
 */
import type { JsonValue } from "../json.ts";
import { toPointer } from "../json_pointer.ts";
import { certify } from "./certify.ts";
import { decodeUtf8, tooLarge } from "./decode.ts";
import type { JsonFault, JsonNode, JsonReading } from "./document.ts";
import { JsonDocument } from "./document.ts";
import type { FaultName } from "./faults.ts";
import { describeFault, quote } from "./faults.ts";
import type { JsonLimits } from "./limits.ts";
import { LazyNode } from "./lazy_node.ts";
import { MANIFEST_LIMITS } from "./limits.ts";
import { survives } from "./numbers.ts";
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
    const { text, fault } = decodeUtf8(source, limits);
    return text === undefined
      ? new JsonDocument("", { faults: [fault] })
      : parseText(text, limits);
  }
  return source.length > limits.maxBytes
    ? new JsonDocument("", { faults: [tooLarge(limits.maxBytes)] })
    : parseText(source, limits);
}

/** Most texts have no fault. */
function parseText(text: string, limits: JsonLimits): JsonDocument {
  const value = certify(text, limits);
  return new JsonDocument(
    text,
    value === undefined
      ? new Parser(text, limits).run()
      : { value, root: LazyNode.ofText(text), faults: [] },
  );
}

/** Thrown inside the parser where nothing sure can be said about the rest. */
class Unreadable extends Error {}

const BACKSLASH_U = "\\u";
const NOT_SPACE = /[^ \n\r\t]/g;
const LITERALS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORD = /[^\s,:{}[\]"]+/y;

/** A place with the value there. */
interface ValueNode extends JsonNode {
  readonly value: JsonValue;
}

class Parser {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #faults: JsonFault[] = [];
  /** Half surrogate pairs can be in the text, raw or escaped. */
  readonly #mayBeIllFormed: boolean;
  /** Only asked for positions. */
  #places: JsonDocument | undefined;
  /** Where the parser is: keys and indices. */
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
    this.#mayBeIllFormed = text.includes(BACKSLASH_U) || !text.isWellFormed();
  }

  run(): JsonReading {
    try {
      while (this.#text.charCodeAt(this.#at) === 0xfeff) {
        this.#fault("byte_order_mark", this.#at++);
      }
      const root = this.#value(0, -1);
      this.#skip();
      if (this.#at < this.#text.length) {
        this.#fault("trailing_text", this.#at, this.#found());
      }
      return { value: root.value, root, faults: this.#faults };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { faults: this.#faults };
    }
  }

  #fault(name: FaultName, offset: number, found: string = ""): void {
    const pointer = toPointer(this.#path);
    this.#faults.push(describeFault(name, pointer, offset, found));
    if (this.#faults.length >= this.#limits.maxFaults) throw new Unreadable();
  }

  #fatal(name: FaultName, found: string = this.#found()): never {
    const pointer = toPointer(this.#path);
    this.#faults.push(describeFault(name, pointer, this.#at, found));
    throw new Unreadable();
  }

  /** Goes to the next token: over white space, and comments with a fault each. */
  #skip(): number {
    for (;;) {
      let code = this.#text.charCodeAt(this.#at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
        NOT_SPACE.lastIndex = this.#at;
        this.#at = NOT_SPACE.test(this.#text)
          ? NOT_SPACE.lastIndex - 1
          : this.#text.length;
        code = this.#text.charCodeAt(this.#at);
      }
      if (code !== 0x2f && code !== 0x23) return code;
      this.#skipComment(code === 0x23);
    }
  }

  #skipComment(hash: boolean): void {
    const start = this.#at;
    const block = this.#text.startsWith("/*", start);
    if (!hash && !block && !this.#text.startsWith("//", start)) {
      this.#fatal("syntax");
    }
    if (block) {
      const end = this.#text.indexOf("*/", start + 2);
      if (end < 0) this.#fatal("comment");
      this.#at = end + 2;
    } else {
      const length = this.#text.slice(start).search(/[\r\n]/);
      this.#at = length < 0 ? this.#text.length : start + length;
    }
    this.#fault("comment", start);
  }

  #value(depth: number, key: number): ValueNode {
    const code = this.#skip();
    const start = this.#at;
    const keyStart = key < 0 ? start : key;
    if (code === 0x7b || code === 0x5b) {
      if (depth >= this.#limits.maxDepth) {
        this.#fatal("max_depth", String(this.#limits.maxDepth));
      }
      return code === 0x7b
        ? this.#object(depth + 1, start, keyStart)
        : this.#array(depth + 1, start, keyStart);
    }
    const value = code === 0x22 ? this.#string() : this.#scalar(start);
    return { value, start, keyStart };
  }

  #object(depth: number, start: number, keyStart: number): ValueNode {
    const members = new Map<string, JsonNode>();
    const value: Record<string, JsonValue> = {};
    this.#at++;
    for (let count = 0; this.#more(0x7d, count); count++) {
      const at = this.#at;
      if (this.#text.charCodeAt(at) !== 0x22) this.#fatal("key");
      const key = this.#string();
      this.#path.push(key);
      if (this.#skip() !== 0x3a) this.#fatal("colon");
      this.#at++;
      const member = this.#value(depth, at);
      if (this.#keeps(key, at, members)) {
        members.set(key, member);
        value[key] = member.value;
      }
      this.#path.pop();
    }
    return { value, start, keyStart, members };
  }

  /** Whether the member counts: not a second one of its name, not `__proto__`. */
  #keeps(
    key: string,
    keyStart: number,
    members: ReadonlyMap<string, JsonNode>,
  ): boolean {
    const first = members.get(key);
    if (first !== undefined) {
      const places = this.#places ??= new JsonDocument(this.#text, {
        faults: [],
      });
      const both = [first.keyStart, keyStart].map((offset) => {
        const { line, column } = places.positionOf(offset);
        return `${line}:${column}`;
      });
      this.#fault(
        "duplicate_key",
        keyStart,
        `${quote(key)} at ${both.join(" and ")}`,
      );
      return false;
    }
    if (key !== "__proto__") return true;
    this.#fault("proto_key", keyStart);
    return false;
  }

  #array(depth: number, start: number, keyStart: number): ValueNode {
    const items: ValueNode[] = [];
    this.#at++;
    while (this.#more(0x5d, items.length)) {
      this.#path.push(items.length);
      items.push(this.#value(depth, -1));
      this.#path.pop();
    }
    const value = items.map((item) => item.value);
    return { value, start, keyStart, items };
  }

  /** Stands before the next member or item; false after the closing bracket. */
  #more(close: number, count: number): boolean {
    let code = this.#skip();
    if (code !== close && count > 0) {
      const comma = this.#at;
      if (code !== 0x2c) this.#fatal("comma");
      this.#at++;
      code = this.#skip();
      if (code === close) this.#fault("trailing_comma", comma);
    }
    if (code === close) {
      this.#at++;
      return false;
    }
    if (count >= this.#limits.maxMembers) {
      this.#fatal("max_members", String(this.#limits.maxMembers));
    }
    return true;
  }

  #string(): string {
    const start = this.#at;
    const { value, end, plain, faults } = readString(this.#text, start);
    if (end < 0) this.#fatal("unterminated_string");
    this.#at = end;
    if (!plain) {
      for (const fault of faults) {
        this.#fault(fault.name, fault.offset, fault.found);
      }
    }
    if (!this.#mayBeIllFormed || value.isWellFormed()) return value;
    this.#fault("lone_surrogate", start);
    return value.toWellFormed();
  }

  #scalar(start: number): JsonValue {
    const word = this.#peekWord();
    if (word === "") {
      this.#fatal(this.#at < this.#text.length ? "syntax" : "end_of_text");
    }
    const isNumber = NUMBER.test(word);
    // At the top it is another format altogether.
    if (this.#path.length === 0 && !isNumber && !LITERALS.has(word)) {
      this.#fatal("not_json_value", quote(word));
    }
    this.#at += word.length;
    if (isNumber) return this.#number(word, start);
    const literal = LITERALS.get(word);
    if (literal !== undefined) return literal;
    this.#fault("not_json_value", start, quote(word));
    return null;
  }

  #number(word: string, start: number): number {
    if (!survives(word)) this.#fault("number_range", start, quote(word));
    const read = Number(word);
    return Number.isFinite(read) ? read : 0;
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
