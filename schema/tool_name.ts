/**
 * SEP-986 tool names, checked by the compiler.
 *
 * Source: TASK-PLUGIN-001 §1 clause 6, TASK-PLUGIN-002 §4 criterion 3.
 */

type Lower =
  | "a"
  | "b"
  | "c"
  | "d"
  | "e"
  | "f"
  | "g"
  | "h"
  | "i"
  | "j"
  | "k"
  | "l"
  | "m"
  | "n"
  | "o"
  | "p"
  | "q"
  | "r"
  | "s"
  | "t"
  | "u"
  | "v"
  | "w"
  | "x"
  | "y"
  | "z";
type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";

type AllOf<Text extends string, Chars extends string> = Text extends "" ? true
  : Text extends `${infer Head}${infer Rest}`
    ? Head extends Chars ? AllOf<Rest, Chars> : false
  : false;

type Segment<Text extends string, Chars extends string> = Text extends
  `${infer Head}${infer Rest}` ? Head extends Lower ? AllOf<Rest, Chars> : false
  : false;

/** `Name` itself when it follows SEP-986, else `never`. */
export type Sep986<Name extends string> = Name extends
  `cyberos.${infer Module}.${infer Verb}`
  ? Segment<Module, Lower | Digit> extends true
    ? Segment<Verb, Lower | Digit | "_"> extends true ? Name : never
  : never
  : never;

/** The same rule for names that are known only at run time. */
export const TOOL_NAME_PATTERN = "^cyberos\\.[a-z][a-z0-9]*\\.[a-z][a-z0-9_]*$";
