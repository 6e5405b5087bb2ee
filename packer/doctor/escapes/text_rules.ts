/** What the text of a command or skill must not hold. */
import type { Verdict } from "../verdicts.ts";
import { frontmatterKeys } from "./frontmatter.ts";

// What a frontmatter may say: anything else is a host's feature, and the ones
// that matter here grant tools, set hooks or choose a shell.
const KEYS: Readonly<Record<"command" | "skill", ReadonlySet<string>>> = {
  command: new Set([
    "name",
    "description",
    "binds_to",
    "arguments",
    "triggers",
    "destructive",
  ]),
  skill: new Set(["name", "description", "license", "metadata"]),
};

/** What a Markdown file is for its host. */
export type MarkdownRole = "command" | "skill" | "document";

/** A fault, its reason to follow the path in a sentence. */
export interface TextFault {
  readonly code: Verdict;
  readonly reason: string;
}

// Claude Code runs these before the model sees the text.
const SHELL_COMMAND = /!`|^[ \t>*+-]*(?:`{3,}|~{3,})[ \t]*!/m;
// `@` and a path makes hosts paste the file: only those outside the project.
const FILE_REFERENCE = /(?<![\w.@/-])@(?:~|\/|\.\.?[\\/]|\\|[A-Za-z]:[\\/])/;

/** All faults of a Markdown file but hidden text. */
export function judgeMarkdown(
  text: string,
  role: MarkdownRole,
): readonly TextFault[] {
  const faults: TextFault[] = [];
  if (SHELL_COMMAND.test(text)) {
    const reason = "has a command that the host would run (!`…`)";
    faults.push({ code: "SHELL_COMMAND", reason });
  }
  if (FILE_REFERENCE.test(text)) {
    const reason = "pulls in a file of the reader's computer (@/…, @~…, @../…)";
    faults.push({ code: "FILE_REFERENCE", reason });
  }
  const reason = role === "document" ? undefined : frontmatterFault(text, role);
  if (reason !== undefined) {
    faults.push({ code: "FRONTMATTER_FOREIGN", reason });
  }
  return faults;
}

function frontmatterFault(
  text: string,
  role: "command" | "skill",
): string | undefined {
  const read = frontmatterKeys(text);
  if ("fault" in read) return read.fault;
  const foreign = read.keys.find((key) => !KEYS[role].has(key));
  if (foreign !== undefined) {
    return `has the frontmatter key "${foreign}", which gives the host more than a text`;
  }
  const twice = read.keys.find((key, i) => read.keys.indexOf(key) !== i);
  return twice === undefined
    ? undefined
    : `has the frontmatter key "${twice}" twice`;
}
