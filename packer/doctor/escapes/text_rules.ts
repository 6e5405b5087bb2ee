/** What the text of a command or skill must not hold. */
import type { DoctorFinding, Verdict } from "../verdicts.ts";
import { frontmatterKeys } from "./frontmatter.ts";

// What a frontmatter may say: anything else is a host's feature, and the ones
// that matter here grant tools, set hooks or choose a shell.
const COMMAND_KEYS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "binds_to",
  "arguments",
  "triggers",
  "destructive",
  "argument-hint",
]);
const SKILL_KEYS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
]);

/** What a Markdown file is for its host. */
export type MarkdownRole = "command" | "skill" | "document";

interface Rule {
  readonly code: Verdict;
  readonly pattern: RegExp;
  readonly message: string;
}

const RULES: readonly Rule[] = [
  {
    code: "SHELL_COMMAND",
    // Claude Code runs these before the model sees the text.
    pattern: /!`|^[ \t]*(?:```|~~~)+!/m,
    message: "has a command that the host would run (!`…`)",
  },
  {
    code: "FILE_REFERENCE",
    pattern: /(?<![\w.@/-])@(?:~|\/|\.\.?\/|\\|[A-Za-z]:[\\/])/,
    message: "pulls in a file from outside the plugin (@/…, @~…, @../…)",
  },
  {
    code: "TEXT_HIDDEN",
    // Tags, bidirectional overrides, zero-width signs, controls, private use.
    pattern:
      // deno-lint-ignore no-control-regex -- control characters are what is looked for
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e0fff}\p{Co}]/u,
    message: "has characters that a reader cannot see",
  },
];

/** All faults of a Markdown or plain text file. */
export function judgeText(
  path: string,
  text: string,
  role: MarkdownRole,
): readonly DoctorFinding[] {
  const findings = RULES.filter(({ pattern }) => pattern.test(text))
    .map(({ code, message }) => ({
      code,
      path,
      message: `"${path}" ${message}`,
    }));
  const fault = role === "document" ? undefined : frontmatterFault(text, role);
  if (fault === undefined) return findings;
  const message = `"${path}": ${fault}`;
  return [...findings, { code: "FRONTMATTER_FOREIGN", path, message }];
}

function frontmatterFault(
  text: string,
  role: "command" | "skill",
): string | undefined {
  const read = frontmatterKeys(text);
  if ("fault" in read) return read.fault;
  const allowed = role === "command" ? COMMAND_KEYS : SKILL_KEYS;
  const foreign = read.keys.find((key) => !allowed.has(key));
  if (foreign !== undefined) {
    return `its frontmatter key "${foreign}" gives the host more than a text`;
  }
  const twice = read.keys.find((key, i) => read.keys.indexOf(key) !== i);
  return twice === undefined
    ? undefined
    : `its frontmatter has the key "${twice}" twice`;
}
