/** A workflow's inputs as arguments of a command. */
import type { JsonObject } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";

const KEY = /^[A-Za-z_][\w.-]{0,127}$/;
// Linux takes 128 KiB in one argument; the rest is room for the others.
const MAX_ARGUMENT_BYTES = 100_000;
const MAX_BYTES = 1_000_000;

/**
 * `--input KEY=VALUE` for each input; what is not text is written as JSON.
 *
 * @throws {BridgeError} `ARGUMENTS_INVALID` for what a command line cannot carry.
 */
export function inputArguments(inputs: JsonObject): readonly string[] {
  const args: string[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(inputs)) {
    if (value === undefined) continue;
    if (!KEY.test(key)) throw refuse(key, "is no name for an input");
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (text.includes("\0")) throw refuse(key, "holds a NUL character");
    const argument = `${key}=${text}`;
    const size = new TextEncoder().encode(argument).length;
    bytes += size;
    if (size > MAX_ARGUMENT_BYTES || bytes > MAX_BYTES) {
      throw refuse(key, "is too large for CUO's command line");
    }
    args.push("--input", argument);
  }
  return args;
}

function refuse(key: string, what: string): BridgeError {
  const shown = key.slice(0, 64);
  return new BridgeError(
    "ARGUMENTS_INVALID",
    `Input "${shown}" ${what}`,
    {
      hint:
        "Inputs are names of letters, digits, _ . - with values of at most 100 kB: shorten it, or give a reference to it instead.",
      data: {
        errors: [{
          json_pointer: "/arguments/inputs",
          constraint: "cli",
          message: `Input "${shown}" ${what}`,
        }],
      },
    },
  );
}
