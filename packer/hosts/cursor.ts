/**
 * Cursor: its own plugin format, which has commands; the open one has none.
 *
 * Source: Cursor's plugins reference and plugin.schema.json.
 */
import { NESTED_MANIFEST_PATH } from "../content.ts";
import {
  authorOf,
  commandName,
  type Host,
  type HostInput,
  jsonText,
  SERVER_NAME,
  serverCommand,
} from "./host.ts";
import { markdown, readCommand } from "./markdown.ts";

function plugin({ manifest }: HostInput): string {
  const { id, name, version, description, license } = manifest;
  const { url: _, ...author } = authorOf(manifest);
  return jsonText({
    name: id,
    displayName: name,
    version,
    description,
    author,
    license,
  });
}

function servers(input: HostInput): string {
  const server = serverCommand(input, "${CURSOR_PLUGIN_ROOT}");
  return jsonText({
    mcpServers: { [SERVER_NAME]: { type: "stdio", ...server } },
  });
}

/** The target `cursor`. */
export const cursor: Host = {
  target: "cursor",
  title: "Cursor",
  manifestPath: NESTED_MANIFEST_PATH,
  generatedPaths: [".cursor-plugin/plugin.json", "mcp.json", "README.md"],
  commands: true,
  skills: false,
  commandsAsSkills: false,
  install: (id) => [
    `Unpack the bundle to \`~/.cursor/plugins/local/${id}\` and run`,
    '"Developer: Reload Window". For the tools alone, copy the server from',
    "`mcp.json` into `.cursor/mcp.json` of a project.",
  ],
  generate: (input) =>
    new Map([
      [".cursor-plugin/plugin.json", plugin(input)],
      ["mcp.json", servers(input)],
    ]),
  async command(input, path) {
    const name = input.manifest.commands?.find(({ file }) => file === path)
      ?.name ?? path;
    const { description, body } = await readCommand(input, path);
    return markdown({ name: commandName(name), description }, body);
  },
};
