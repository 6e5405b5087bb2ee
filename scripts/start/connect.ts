/** The exact lines that connect a host to the embedded bridge of this checkout. */

/**
 * @param root The checkout's folder.
 * @param deno The command line that starts Deno here; see {@link denoCommand}.
 */
export function connectionHelp(
  root: string,
  deno: readonly [string, ...string[]],
): string {
  const [command, ...before] = deno;
  const task = ["task", "--quiet", "--cwd", root, "bridge", "--embedded"];
  const args = [...before, ...task];
  const line = [command, ...args].map(quoted).join(" ");
  const server = JSON.stringify({ mcpServers: { cyberos: { command, args } } });
  return [
    "   Claude Code:",
    `     claude mcp add cyberos -- ${line}`,
    "   Cursor, in .cursor/mcp.json:",
    `     ${server}`,
    "   Codex CLI:",
    `     codex mcp add cyberos -- ${line}`,
    "",
    `   The packed bundle starts the program cyberos-mcp-bridge from PATH: \`${
      deno.join(" ")
    } task compile\` makes it.`,
  ].join("\n");
}

/**
 * How Deno was started, so that a host can do the same: a person who has only
 * Node has no `deno` on PATH.
 *
 * @param npmCommand What npm calls its own command in `npm_command`.
 */
export function denoCommand(
  npmCommand: string | undefined,
  version: string,
): [string, ...string[]] {
  return npmCommand === "exec" ? ["npx", "-y", `deno@${version}`] : ["deno"];
}

function quoted(text: string): string {
  return /^[\w./@=:-]+$/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}
