/** The exact lines that connect a host to the embedded bridge of this checkout. */

/** @param root The checkout's folder. */
export function connectionHelp(root: string): string {
  const args = ["task", "--quiet", "--cwd", root, "bridge", "--embedded"];
  const quoted = args.map((arg) => /^[\w./@=:-]+$/.test(arg) ? arg : `'${arg}'`)
    .join(" ");
  const server = JSON.stringify({
    mcpServers: { cyberos: { command: "deno", args } },
  });
  return [
    "   Claude Code:",
    `     claude mcp add cyberos -- deno ${quoted}`,
    "   Cursor, in .cursor/mcp.json:",
    `     ${server}`,
    "   Codex CLI:",
    `     codex mcp add cyberos -- deno ${quoted}`,
    "",
    "   The packed bundle starts the program cyberos-mcp-bridge from PATH: `deno task compile` makes it.",
  ].join("\n");
}
