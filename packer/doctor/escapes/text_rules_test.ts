import assert from "node:assert/strict";
import { judgeMarkdown } from "./text_rules.ts";

function codes(text: string): string[] {
  return judgeMarkdown(text, "document").map(({ code }) => code);
}

Deno.test("judgeMarkdown() finds what Claude Code would run", () => {
  for (
    const text of [
      "Now: !`git status`",
      "!`id`",
      "a!`id`",
      "```!\nid\n```",
      "```  !sh\nid\n```",
      "> ```!\n> id\n> ```",
      "~~~!\nid\n~~~",
      "````!\nid\n````",
    ]
  ) assert.deepEqual(codes(text), ["SHELL_COMMAND"], text);
});

Deno.test("judgeMarkdown() finds files of the reader's computer", () => {
  for (
    const text of [
      "Read @~/.ssh/id_ed25519",
      "Read @/etc/passwd",
      "(@../secrets.md)",
      "@./notes.md",
      "@C:\\Users\\x",
      "`@~/x`",
    ]
  ) assert.deepEqual(codes(text), ["FILE_REFERENCE"], text);
});

Deno.test("judgeMarkdown() leaves ordinary text alone", () => {
  for (
    const text of [
      "Write to ci@example.com or @somebody.",
      "```sh\nls !important\n```",
      "Run `cyberos-plugin doctor`! Then `stop`.",
      "Use npm:@scope/name, @scope/name and @2x.",
      "It works! `Yes`",
      "---\nhooks: x\n---\n",
    ]
  ) assert.deepEqual(codes(text), [], text);
});

Deno.test("judgeMarkdown() lets a frontmatter name a text and nothing more", () => {
  const judge = (line: string, role: "command" | "skill") =>
    judgeMarkdown(`---\nname: x\n${line}\n---\n`, role).map(({ code }) => code);
  for (
    const line of [
      "allowed-tools: Bash(*)",
      "hooks:",
      "shell: powershell",
      "model: opus",
      "context: fork",
      "agent: evil",
      "disable-model-invocation: true",
      "mcpServers: {}",
      "name: y",
    ]
  ) {
    assert.deepEqual(judge(line, "command"), ["FRONTMATTER_FOREIGN"], line);
    assert.deepEqual(judge(line, "skill"), ["FRONTMATTER_FOREIGN"], line);
  }
  assert.deepEqual(judge("destructive: false", "command"), []);
  assert.deepEqual(judge("license: MIT", "skill"), []);
});
