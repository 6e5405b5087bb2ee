import assert from "node:assert/strict";
import { hiddenText, judgeMarkdown } from "./text_rules.ts";

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

Deno.test("hiddenText() sees what a reader cannot", () => {
  for (
    const sign of [
      "\u0000",
      "\u001b",
      "\u007f",
      "\u0085",
      "\u00ad",
      "\u200b",
      "\u202e",
      "\u2066",
      "\u2060",
      "\ufeff",
      "\ue000",
      "\u{e0041}",
      "\u{e0100}",
      "\u3164",
      "\u115f",
      "\ufffa",
      "\ufe00\ufe01\ufe0e",
      "\u200d\u200c\u200d",
    ]
  ) assert.ok(hiddenText(`a${sign}b`), sign.codePointAt(0)?.toString(16));
  for (
    const text of [
      "a\tb\r\n",
      "é ß 漢字 ع",
      "👩‍💻 ❤️ 👁️‍🗨️",
      "می‌خواهم",
      "a\u00a0b",
      "“x” — …",
    ]
  ) {
    assert.equal(hiddenText(text), false, text);
  }
});
