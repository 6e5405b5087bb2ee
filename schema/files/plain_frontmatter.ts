/**
 * Reads the plain kind of frontmatter without a YAML parser, which takes longer
 * to load than all else that a pack does.
 *
 * The plain kind is what every YAML parser reads alike: keys at the left edge,
 * one value on the line or a list below it, values in double quotes, numbers,
 * true and false. Anything else is left to the parser.
 */
import type { JsonObject, JsonValue } from "../json.ts";
import type { TextPosition } from "../strict_json/mod.ts";

/** A value that was read, with the places in it. */
export interface PlainFrontmatter {
  readonly value: JsonObject;
  /** Where a member is, or the nearest one above it. */
  positionOf(path: readonly (string | number)[]): TextPosition;
}

type Key = string | number;
type Path = readonly Key[];
type Items = Record<string, JsonValue>[] | JsonValue[];

// "- " opens an item, two more spaces continue it.
const LINE = /^( {2}- | {4}|)(?:([A-Za-z_][\w-]*):(?: (.*))?|(.+))$/;

/** @returns `undefined` for frontmatter that is not of the plain kind. */
export function readPlainFrontmatter(
  source: string,
): PlainFrontmatter | undefined {
  const reader = new Reader();
  const lines = source.split(/\r?\n/);
  for (const [i, line] of lines.entries()) {
    // One line above the source: the opening dashes.
    if (!reader.read(line, i + 2)) return undefined;
  }
  return reader.finish();
}

class Reader {
  readonly #value: Record<string, JsonValue> = {};
  readonly #places = new Map<string, TextPosition>();
  #list: { readonly key: string; readonly items: Items } | undefined;
  #item: Record<string, JsonValue> | undefined;

  /** Whether the line is of the plain kind, here. */
  read(line: string, number: number): boolean {
    const match = LINE.exec(line);
    if (match === null) return false;
    const [, indent = "", key, text, bare] = match;
    const at = { number, column: indent.length + 1, key };
    const rest = key === undefined ? bare : text;
    if (indent === "") return this.#top(at, rest);
    return indent === "    " ? this.#more(at, rest) : this.#open(at, rest);
  }

  #top({ number, column, key }: Place, text: string | undefined): boolean {
    if (key === undefined || Object.hasOwn(this.#value, key)) return false;
    if (this.#list?.items.length === 0) return false;
    this.#list = undefined;
    this.#item = undefined;
    if (text === undefined || text === "") {
      const items: Items = [];
      this.#list = { key, items };
      define(this.#value, key, items);
      return true;
    }
    return this.#set(this.#value, [key], text, {
      line: number,
      column: column + key.length + 2,
    });
  }

  #open({ number, column, key }: Place, text: string | undefined): boolean {
    if (this.#list === undefined || text === undefined) return false;
    const { key: list, items } = this.#list;
    const place = { line: number, column };
    if (items.length === 0) {
      this.#places.set(id([list]), { line: number, column: column - 2 });
    }
    if (key === undefined) {
      const value = scalar(text);
      if (value === undefined) return false;
      this.#item = undefined;
      this.#places.set(id([list, items.length]), place);
      (items as JsonValue[]).push(value);
      return true;
    }
    this.#item = {};
    this.#places.set(id([list, items.length]), place);
    (items as JsonValue[]).push(this.#item);
    return this.#member({ number, column, key }, text);
  }

  #more(at: Place, text: string | undefined): boolean {
    if (this.#item === undefined || text === undefined) return false;
    return at.key !== undefined && this.#member(at, text);
  }

  #member({ number, column, key }: Place, text: string): boolean {
    const item = this.#item;
    const list = this.#list;
    if (item === undefined || list === undefined || key === undefined) {
      return false;
    }
    if (Object.hasOwn(item, key)) return false;
    return this.#set(item, [list.key, list.items.length - 1, key], text, {
      line: number,
      column: column + key.length + 2,
    });
  }

  #set(
    target: Record<string, JsonValue>,
    path: Path,
    text: string,
    place: TextPosition,
  ): boolean {
    const value = scalar(text);
    if (value === undefined) return false;
    define(target, String(path.at(-1)), value);
    this.#places.set(id(path), place);
    return true;
  }

  finish(): PlainFrontmatter | undefined {
    if (this.#list?.items.length === 0) return undefined;
    const places = this.#places;
    return {
      value: this.#value,
      positionOf(path) {
        for (let length = path.length; length > 0; length--) {
          const place = places.get(id(path.slice(0, length)));
          if (place !== undefined) return place;
        }
        return { line: 1, column: 1 };
      },
    };
  }
}

interface Place {
  readonly number: number;
  readonly column: number;
  readonly key: string | undefined;
}

function id(path: Path): string {
  return JSON.stringify(path);
}

// As YAML does: a key such as __proto__ is a member like any other.
function define(
  target: Record<string, JsonValue>,
  key: string,
  value: JsonValue,
): void {
  const member = {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  };
  Object.defineProperty(target, key, member);
}

// Only the two escapes that JSON and YAML surely share, and no characters that
// YAML takes for line ends or does not allow.
const QUOTED =
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  /^"((?:[^"\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]|\\["\\])*)"$/;
// No sign that means anything in YAML can be in a word.
const WORD = /^[A-Za-z][A-Za-z0-9 ._/-]*$/;
const NO_WORD = /^(null|true|false|yes|no|on|off|y|n)$/i;

function scalar(text: string): JsonValue | undefined {
  const quoted = QUOTED.exec(text)?.[1];
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, "$1");
  if (text === "true") return true;
  if (text === "false") return false;
  if (/^(0|[1-9][0-9]{0,14})$/.test(text)) return Number(text);
  return WORD.test(text) && !text.endsWith(" ") && !NO_WORD.test(text)
    ? text
    : undefined;
}
