/** Places in a text without any fault, found when they are asked for. */
import type { JsonNode } from "./document.ts";

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y;
const STRING_OR_BRACKET = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/g;
const SCALAR = /[^\s,\]}]+/y;
const SPACE = /\s*/y;

/**
 * A value's place in a text that is known to be JSON. Its parts are looked for
 * once, at the first question, and what lies deeper is stepped over.
 */
export class LazyNode implements JsonNode {
  readonly start: number;
  readonly keyStart: number;
  readonly #text: string;
  #parts: Parts | undefined;

  constructor(text: string, start: number, keyStart: number = start) {
    this.#text = text;
    this.start = start;
    this.keyStart = keyStart;
  }

  /** The whole text's value. */
  static ofText(text: string): LazyNode {
    return new LazyNode(text, endOf(SPACE, text, 0));
  }

  get members(): ReadonlyMap<string, JsonNode> | undefined {
    return this.#find().members;
  }

  get items(): readonly JsonNode[] | undefined {
    return this.#find().items;
  }

  #find(): Parts {
    return this.#parts ??= findParts(this.#text, this.start);
  }
}

interface Parts {
  readonly members?: ReadonlyMap<string, JsonNode>;
  readonly items?: readonly JsonNode[];
}

function findParts(text: string, start: number): Parts {
  const open = text.charAt(start);
  if (open === "{") return { members: new Map(membersOf(text, start)) };
  return open === "[" ? { items: [...itemsOf(text, start)] } : {};
}

function* membersOf(
  text: string,
  start: number,
): Generator<[string, JsonNode]> {
  let at = endOf(SPACE, text, start + 1);
  while (text.charAt(at) === '"') {
    const keyEnd = endOf(STRING, text, at);
    const colon = endOf(SPACE, text, keyEnd);
    const value = endOf(SPACE, text, colon + 1);
    const key: string = JSON.parse(text.slice(at, keyEnd));
    yield [key, new LazyNode(text, value, at)];
    at = nextElement(text, value);
  }
}

function* itemsOf(text: string, start: number): Generator<JsonNode> {
  let at = endOf(SPACE, text, start + 1);
  while (text.charAt(at) !== "]") {
    yield new LazyNode(text, at);
    at = nextElement(text, at);
  }
}

/** Where the element after this value starts, or the closing bracket is. */
function nextElement(text: string, value: number): number {
  const at = endOf(SPACE, text, valueEnd(text, value));
  return text.charAt(at) === "," ? endOf(SPACE, text, at + 1) : at;
}

function valueEnd(text: string, start: number): number {
  const first = text.charAt(start);
  if (first === '"') return endOf(STRING, text, start);
  return first === "{" || first === "["
    ? containerEnd(text, start)
    : endOf(SCALAR, text, start);
}

function containerEnd(text: string, start: number): number {
  let depth = 0;
  STRING_OR_BRACKET.lastIndex = start;
  while (STRING_OR_BRACKET.test(text)) {
    const end = STRING_OR_BRACKET.lastIndex;
    const code = text.charCodeAt(end - 1);
    if (code === 0x22) continue;
    depth += code === 0x7b || code === 0x5b ? 1 : -1;
    if (depth === 0) return end;
  }
  return text.length;
}

function endOf(what: RegExp, text: string, at: number): number {
  what.lastIndex = at;
  return what.test(text) ? what.lastIndex : at;
}
