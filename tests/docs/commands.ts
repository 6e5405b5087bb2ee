/** The commands that a page shows, as a reader would type them. */

/** One shell block of a page. */
export interface ShellBlock {
  readonly page: string;
  /** Line of the page where it begins. */
  readonly line: number;
  readonly text: string;
}

/** The `sh` blocks of a Markdown file, in order. */
export function shellBlocks(page: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  const lines = Deno.readTextFileSync(page).split("\n");
  for (let at = 0; at < lines.length; at++) {
    const fence = /^( *)```(\S*)/.exec(lines[at] as string);
    if (fence === null) continue;
    const first = at + 1;
    while (++at < lines.length && !/^ *```\s*$/.test(lines[at] as string));
    if (fence[2] !== "sh") continue;
    const text = lines.slice(first, at)
      .map((line) => line.slice((fence[1] as string).length)).join("\n");
    blocks.push({ page, line: first + 1, text });
  }
  return blocks;
}

/** The single commands of a page: continued lines joined, comments gone. */
export function commandsOf(page: string): ShellBlock[] {
  return shellBlocks(page).flatMap(({ text, line }) =>
    text.replaceAll("\\\n", " ").split("\n")
      .map((command) => command.replace(/\s+#\s.*$/, "").trim())
      .filter((command) => command !== "" && !command.startsWith("#"))
      .map((command) => ({ page, line, text: command }))
  );
}
