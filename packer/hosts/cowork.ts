/**
 * Cowork: Claude's plugin format, added as one file.
 *
 * Source: Claude Code's plugins reference; Cowork's upload rules (no top-level
 * `bin/`, at most 200 MB and 5,000 files).
 */
import { ROOT_MANIFEST_PATH } from "../content.ts";
import { ARCHIVE_LIMITS } from "../limits.ts";
import { claudePlugin, claudeServers } from "./claude.ts";
import type { Host } from "./host.ts";

/** The target `cowork`. */
export const cowork: Host = {
  target: "cowork",
  title: "Cowork",
  manifestPath: ROOT_MANIFEST_PATH,
  generatedPaths: [".claude-plugin/plugin.json", ".mcp.json", "README.md"],
  commands: true,
  skills: true,
  commandsAsSkills: false,
  limits: {
    ...ARCHIVE_LIMITS,
    archiveBytes: 200 * 1000 * 1000,
    entries: 5_000,
  },
  install: () => [
    "Open the plugins page of Claude Desktop, choose Add and pick the bundle",
    "(a `.plugin` file). Tools work in Cowork; a chat without Cowork does not",
    "start programs.",
  ],
  generate: (input) =>
    new Map([
      [".claude-plugin/plugin.json", claudePlugin(input)],
      [".mcp.json", claudeServers(input)],
    ]),
};
