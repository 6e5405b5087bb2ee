/** `cyberos-plugin schema`: the contract itself, for editors and other tools. */
import manifestSchema from "../../schema/manifest.schema.json" with {
  type: "json",
};
import { type Command, UsageError } from "./command.ts";

const HELP = `cyberos-plugin schema: print the manifest's JSON Schema

Usage: cyberos-plugin schema

Prints JSON Schema 2020-12 on stdout. A manifest must not name its schema itself
($schema is no part of the contract), so tell your editor which files it is for.
In VS Code's settings.json, after cyberos-plugin schema > plugin.schema.json:

  "json.schemas": [
    { "fileMatch": ["*.plugin.json"], "url": "./plugin.schema.json" }
  ]
`;

/** The subcommand. */
export const command: Command = {
  name: "schema",
  summary: "print the manifest's JSON Schema",
  help: HELP,
  async run(args, terminal) {
    if (args.length > 0) {
      throw new UsageError(`Unexpected argument "${args[0]}"`);
    }
    await terminal.stdout(`${JSON.stringify(manifestSchema, null, 2)}\n`);
    return 0;
  },
};
