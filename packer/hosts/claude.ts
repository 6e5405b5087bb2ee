/** What Claude Code and Cowork have in common. */
import {
  authorOf,
  type HostInput,
  jsonText,
  SERVER_NAME,
  serverCommand,
} from "./host.ts";

/** The host's manifest: only what is documented, because one unknown key rejects the plugin. */
export function claudePlugin({ manifest }: HostInput): string {
  const { id, version, description, license } = manifest;
  return jsonText({
    name: id,
    version,
    description,
    author: authorOf(manifest),
    license,
  });
}

/** The host's servers. */
export function claudeServers(input: HostInput): string {
  const server = serverCommand(input, "${CLAUDE_PLUGIN_ROOT}");
  return jsonText({ mcpServers: { [SERVER_NAME]: server } });
}
