/**
 * Claude Code: a plugin folder that is a marketplace of itself, so that the
 * unpacked bundle can be installed for good.
 *
 * Source: Claude Code's plugins reference.
 */
import { ROOT_MANIFEST_PATH } from "../content.ts";
import { claudePlugin, claudeServers } from "./claude.ts";
import { authorOf, type Host, type HostInput, jsonText } from "./host.ts";

function marketplace({ manifest }: HostInput): string {
  const { id, description } = manifest;
  return jsonText({
    name: id,
    owner: authorOf(manifest),
    metadata: { description: `${manifest.name}, and nothing else` },
    plugins: [{ name: id, source: "./", description }],
  });
}

/** The target `claude-code`. */
export const claudeCode: Host = {
  target: "claude-code",
  title: "Claude Code",
  manifestPath: ROOT_MANIFEST_PATH,
  generatedPaths: [
    ".claude-plugin/plugin.json",
    ".claude-plugin/marketplace.json",
    ".mcp.json",
    "README.md",
  ],
  commands: true,
  skills: true,
  commandsAsSkills: false,
  install: (id) => [
    "For one session, rename the bundle to end in `.zip` and run",
    "`claude --plugin-dir BUNDLE.zip`.",
    "",
    "To keep it, unpack the bundle to a folder and run:",
    "",
    "```sh",
    "claude plugin marketplace add ./FOLDER",
    `claude plugin install ${id}@${id}`,
    "```",
  ],
  generate: (input) =>
    new Map([
      [".claude-plugin/plugin.json", claudePlugin(input)],
      [".claude-plugin/marketplace.json", marketplace(input)],
      [".mcp.json", claudeServers(input)],
    ]),
};
