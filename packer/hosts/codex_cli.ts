/**
 * Codex CLI: its own plugin format in a folder that is a marketplace of itself.
 * It has no commands: each becomes a skill.
 *
 * Its `.mcp.json` expands no variables; a relative `cwd` is taken from the
 * plugin's folder, and the program from there.
 */
import { NESTED_MANIFEST_PATH } from "../content.ts";
import { PackerError } from "../errors.ts";
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
  const { id, version, description, license } = manifest;
  return jsonText({
    name: id,
    version,
    description,
    author: authorOf(manifest),
    license,
  });
}

function servers(input: HostInput): string {
  const server = serverCommand(input, ".");
  const place = input.bridgePath === undefined ? {} : { cwd: "." };
  return jsonText({ mcpServers: { [SERVER_NAME]: { ...server, ...place } } });
}

function marketplace({ manifest }: HostInput): string {
  return jsonText({
    name: manifest.id,
    plugins: [
      { name: manifest.id, source: { source: "local", path: "./" } },
    ],
  });
}

/** Characters that Codex reads of a skill's description. */
const MAX_DESCRIPTION = 1024;

function describe(description: string, triggers: readonly string[]): string {
  let text = description;
  for (const phrase of triggers) {
    const longer = `${text}${
      text === description ? " Use for" : ","
    } "${phrase}"`;
    if (longer.length >= MAX_DESCRIPTION) break;
    text = longer;
  }
  return text === description ? text : `${text}.`;
}

/** The target `codex-cli`. */
export const codexCli: Host = {
  target: "codex-cli",
  title: "Codex CLI",
  manifestPath: NESTED_MANIFEST_PATH,
  generatedPaths: [
    ".agents/plugins/marketplace.json",
    ".codex-plugin/plugin.json",
    ".mcp.json",
    "README.md",
  ],
  commands: false,
  skills: true,
  commandsAsSkills: true,
  install: (id) => [
    "Unpack the bundle to a folder and run:",
    "",
    "```sh",
    "codex plugin marketplace add ./FOLDER",
    `codex plugin add ${id}@${id}`,
    "```",
  ],
  generate: (input) =>
    new Map([
      [".agents/plugins/marketplace.json", marketplace(input)],
      [".codex-plugin/plugin.json", plugin(input)],
      [".mcp.json", servers(input)],
    ]),
  async command(input, path) {
    const { manifest } = input;
    const declared = manifest.commands?.find(({ file }) => file === path);
    const name = commandName(declared?.name ?? path);
    if (
      manifest.skills?.some(({ path }) => path === `skills/${name}/SKILL.md`)
    ) {
      throw new PackerError(
        "ENTRY_REFUSED",
        `Cannot make a skill of the command "/${name}": there is a skill of that name`,
        { hint: "Codex has no commands: give command and skill two names" },
      );
    }
    const { description, triggers, body } = await readCommand(input, path);
    return markdown({
      name,
      description: describe(description, triggers),
      license: manifest.license,
    }, body);
  },
};
