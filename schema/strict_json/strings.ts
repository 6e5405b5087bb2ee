/** JSON strings, read from their opening quote. Source: RFC 8259 §7. */
import type { FaultName } from "./faults.ts";
import { quote } from "./faults.ts";

/** What {@link readString} found. */
export interface StringRead {
  readonly value: string;
  /** After the closing quote; -1 where there is none. */
  readonly end: number;
  /** Without escapes: the value is a slice of the text. */
  readonly plain: boolean;
  readonly faults: readonly {
    readonly name: FaultName;
    readonly offset: number;
    readonly found: string;
  }[];
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

const MAX_FAULTS = 20;

// What keeps the text between two quotes from being the value as it stands.
// deno-lint-ignore no-control-regex
const SPECIAL = /[\\\x00-\x1f]/;
const NONE: StringRead["faults"] = [];
const UNTERMINATED: StringRead = {
  value: "",
  end: -1,
  plain: true,
  faults: NONE,
};

/** Reads the string whose opening quote is at `start`. */
export function readString(text: string, start: number): StringRead {
  const close = text.indexOf('"', start + 1);
  if (close < 0) return UNTERMINATED;
  const value = text.slice(start + 1, close);
  const special = value.search(SPECIAL);
  return special < 0
    ? { value, end: close + 1, plain: true, faults: NONE }
    : readEscaped(text, start, start + 1 + special);
}

function readEscaped(text: string, start: number, from: number): StringRead {
  const faults: { name: FaultName; offset: number; found: string }[] = [];
  const fault = (name: FaultName, offset: number, found: string): void => {
    if (faults.length < MAX_FAULTS) faults.push({ name, offset, found });
  };
  const parts = [text.slice(start + 1, from)];
  let plainFrom = from;
  for (let at = from; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      parts.push(text.slice(plainFrom, at));
      return { value: parts.join(""), end: at + 1, plain: false, faults };
    }
    if (code === 0x0a || code === 0x0d) break;
    if (code === 0x5c) {
      parts.push(text.slice(plainFrom, at));
      const escape = readEscape(text, at);
      if (!escape.legal) fault("escape", at, quote(text.slice(at, at + 2)));
      parts.push(escape.value);
      at = plainFrom = at + escape.length;
      continue;
    }
    if (code < 0x20) {
      const hex = code.toString(16).toUpperCase().padStart(4, "0");
      fault("control_character", at, `U+${hex}`);
    }
    at++;
  }
  return UNTERMINATED;
}

function readEscape(
  text: string,
  at: number,
): { value: string; length: number; legal: boolean } {
  const letter = text.charAt(at + 1);
  const short = Object.hasOwn(SHORT, letter) ? SHORT[letter] : undefined;
  if (short !== undefined) return { value: short, length: 2, legal: true };
  const hex = text.slice(at + 2, at + 6);
  if (letter === "u" && /^[0-9a-fA-F]{4}$/.test(hex)) {
    return {
      value: String.fromCharCode(parseInt(hex, 16)),
      length: 6,
      legal: true,
    };
  }
  return { value: letter, length: 2, legal: false };
}
