/** The words for each fault of a JSON text. */
import type { JsonFault } from "./document.ts";

/** The `constraint` of each fault. */
export type FaultName =
  | "byte_order_mark"
  | "comment"
  | "trailing_comma"
  | "trailing_text"
  | "duplicate_key"
  | "proto_key"
  | "lone_surrogate"
  | "number_range"
  | "not_json_value"
  | "syntax"
  | "key"
  | "colon"
  | "comma"
  | "end_of_text"
  | "unterminated_string"
  | "escape"
  | "control_character"
  | "max_depth"
  | "max_members";

/** The message (`{}` stands for what was found), advice, and the source's section. */
type Words = readonly [message: string, advice: string, source: string];

const FAULTS: Readonly<Record<FaultName, Words>> = {
  byte_order_mark: [
    "The file starts with a byte order mark",
    'Save it as "UTF-8", not "UTF-8 with BOM"',
    "§8.1",
  ],
  comment: ["JSON has no comments", "Remove the comment", "§2"],
  trailing_comma: [
    "A comma after the last element",
    "Remove the comma",
    "§4 and §5",
  ],
  trailing_text: [
    "Unexpected {} after the end of the value",
    "A file holds one JSON value; remove what follows it",
    "§2",
  ],
  duplicate_key: [
    "Duplicate key {}",
    "Keep one of them: readers disagree about which one counts",
    "§4",
  ],
  proto_key: [
    "The key '__proto__' is not allowed",
    "Rename or remove it: it changes objects in some programs",
    "§4",
  ],
  lone_surrogate: [
    "Half of a surrogate pair, which is no character",
    "Write the character itself, or both halves, such as \\ud83d\\ude00",
    "§8.2",
  ],
  number_range: [
    "The number {} is read as another number",
    "Keep integers within ±9007199254740991 and fractions within 17 digits",
    "§6",
  ],
  not_json_value: [
    "{} is not a JSON value",
    "Write a number without leading zeros, a string in double quotes, true, false or null",
    "§3 and §6",
  ],
  syntax: [
    "Unexpected {} where a value should be",
    "Write a value here",
    "§3",
  ],
  key: [
    "Unexpected {} where a key should be",
    "Write keys as strings in double quotes",
    "§4",
  ],
  colon: [
    "Unexpected {} where ':' should be",
    "Write ':' between key and value",
    "§4",
  ],
  comma: [
    "Unexpected {} where ',' or the closing bracket should be",
    "Write ',' between elements, and close every bracket",
    "§4 and §5",
  ],
  end_of_text: [
    "The file ends where a value should be",
    "The file is empty or cut off; restore it",
    "§2",
  ],
  unterminated_string: [
    "A string without its closing quote on the same line",
    'Close the string with ", and write line breaks as \\n',
    "§7",
  ],
  escape: [
    "Unknown escape {} in a string",
    "Write a backslash as \\\\",
    "§7",
  ],
  control_character: [
    "Raw control character {} in a string",
    "Write it as an escape, such as \\t",
    "§7",
  ],
  max_depth: ["Nested more than {} levels deep", "Flatten the value", "§9"],
  max_members: [
    "More than {} elements in one array or object",
    "Split the plugin",
    "§9",
  ],
};

const MAX_FOUND = 60;

/** The fault in words. `found` is what stands there, already quoted; it is cut where long. */
export function describeFault(
  name: FaultName,
  json_pointer: string,
  offset: number,
  found: string,
): JsonFault {
  const [message, advice, section] = FAULTS[name];
  return {
    json_pointer,
    constraint: name,
    offset,
    message: message.replace("{}", () => found),
    hint: `${advice}, per RFC 8259 ${section} and TASK-PLUGIN-001 §1 clause 1`,
  };
}

/** A piece of the text in quotes, cut where long. */
export function quote(text: string): string {
  return text.length <= MAX_FOUND
    ? `'${text}'`
    : `'${text.slice(0, MAX_FOUND).toWellFormed()}…'`;
}
