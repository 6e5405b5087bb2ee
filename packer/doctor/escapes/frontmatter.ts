/**
 * Reads the keys of a Markdown file's frontmatter, so that no key grants tools,
 * sets hooks or names a shell.
 *
 * Hosts read YAML, each with its own parser. Only the plain form is accepted
 * here, in which no two parsers can see different keys.
 */

/** The keys in the order of the text, or why they cannot be told. */
export type FrontmatterKeys =
  | { readonly keys: readonly string[] }
  | { readonly fault: string };

const PLAIN_KEY = /^(?:([A-Za-z][\w-]*)|"([A-Za-z][\w-]*)"):(?: |$)/;
// Old YAML takes these for line ends, new YAML does not.
const ODD_BREAKS = /[\u0085\u2028\u2029]/;

/** @param text A Markdown file. */
export function frontmatterKeys(text: string): FrontmatterKeys {
  const lines = text.replace(/\r\n?/g, "\n").trimStart().split("\n");
  if (!lines[0]?.startsWith("---")) return { keys: [] };
  const end = lines.findIndex((line, i) => i > 0 && /^(---|\.\.\.)/.test(line));
  // Some parsers take a line with spaces behind for the end, some do not.
  if (lines[0] !== "---" || lines[end] !== "---") {
    return { fault: "has frontmatter that does not end" };
  }
  const keys: string[] = [];
  for (const line of lines.slice(1, end)) {
    const fault = lineFault(line, keys.length === 0);
    if (fault !== undefined) return { fault };
    const key = PLAIN_KEY.exec(line);
    if (key !== null) keys.push((key[1] ?? key[2]) as string);
  }
  return { keys };
}

function lineFault(line: string, first: boolean): string | undefined {
  if (ODD_BREAKS.test(line)) return "has an odd line break in its frontmatter";
  if (/^ *\t/.test(line)) return "has frontmatter that is indented with tabs";
  const text = line.trimStart();
  if (text === "" || text.startsWith("#")) return undefined;
  if (PLAIN_KEY.test(line)) return undefined;
  // Below the first key, indented lines and list items belong to a key above.
  if (!first && (line.startsWith(" ") || line.startsWith("- "))) {
    return undefined;
  }
  return "has a line in its frontmatter that is no plain key";
}
