/** Commands and skills that a manifest declares. */
import assert from "node:assert/strict";
import type { DeclaredFiles, EntryKind } from "../../schema/files/port.ts";
import { filesInMemory } from "../../schema/files/port.ts";
import type { Finding } from "../../schema/finding.ts";
import { validatePlugin } from "../../schema/validate_plugin.ts";
import type { Bendable } from "./support.ts";
import { complete } from "./support.ts";

const COMMAND_PATH = "commands/acme-deals.md";
const SKILL_PATH = "skills/acme-visit-report/SKILL.md";
const TESTS_PATH = "skills/acme-visit-report/acceptance/TRIGGER_TESTS.md";

const COMMAND = `---
name: "acme-deals"
description: "Look at the deals of Acme CRM, filter them by stage, and delete one that was entered by mistake."
binds_to:
  - tool: "cyberos.crm.list_deals"
    when: "The person wants to see deals."
  - tool: "cyberos.crm.delete_deal"
    when: "The person wants a deal gone and has confirmed it."
arguments:
  - name: "stage"
    type: "string"
    required: false
  - name: "deal_id"
    type: "string"
    required: false
triggers:
  - "show my deals"
  - "which deals are open"
  - "delete this deal"
  - "list won deals"
destructive: true
---

## When to use
## Required scopes
## Side effects
## Example
`;

const SKILL = `---
name: "acme-visit-report"
description: "Write a visit report into Acme CRM. Use for \\"report my visit\\", \\"log the meeting\\", \\"note what they said\\", \\"write up the call\\"."
license: "MIT"
---

## When to use
## Tools chained
## Scopes required
## Side effects
## Worked example
`;

const TESTS = `# Trigger tests

## Should trigger

- "a"
- "b"
- "c"
- "d"

## Should not trigger

- "e"
- "f"
- "g"
- "h"
`;

function fileSet(
  changes: Record<string, string | undefined> = {},
): DeclaredFiles {
  const files = {
    [COMMAND_PATH]: COMMAND,
    [SKILL_PATH]: SKILL,
    [TESTS_PATH]: TESTS,
    ...changes,
  };
  const encoder = new TextEncoder();
  return filesInMemory(
    new Map(
      Object.entries(files).flatMap(([path, text]) =>
        text === undefined ? [] : [[path, encoder.encode(text)]]
      ),
    ),
  );
}

async function find(
  files: DeclaredFiles,
  change?: (manifest: Bendable) => void,
): Promise<readonly Finding[]> {
  return (await validatePlugin(complete(change), files)).findings;
}

async function inCommand(from: string, to: string): Promise<string[]> {
  assert.ok(COMMAND.includes(from), from);
  const found = await find(
    fileSet({ [COMMAND_PATH]: COMMAND.replace(from, () => to) }),
  );
  return found.map(inBrief);
}

async function inSkill(from: string, to: string): Promise<string[]> {
  assert.ok(SKILL.includes(from), from);
  const found = await find(
    fileSet({ [SKILL_PATH]: SKILL.replace(from, () => to) }),
  );
  return found.map(inBrief);
}

function inBrief(
  { constraint, severity, file, line, column }: Finding,
): string {
  const place = file === undefined ? "" : ` ${line}:${column}`;
  return `${severity} ${constraint}${place}`;
}

Deno.test("validatePlugin() has nothing to say about good files", async () => {
  const report = await validatePlugin(complete(), fileSet());
  assert.deepEqual(report.findings, []);
  assert.equal(report.manifest?.id, "acme-crm");
});

Deno.test("VAL-11 a declared file must be there, in exactly that spelling", async () => {
  const [missing] = await find(fileSet({ [COMMAND_PATH]: undefined }));
  assert.equal(missing?.json_pointer, "/commands/0/file");
  assert.equal(missing.constraint, "file_exists");
  for (const other of ["Commands/acme-deals.md", "commands/Acme-Deals.md"]) {
    const [wrongCase, ...others] = await find(
      fileSet({ [COMMAND_PATH]: undefined, [other]: COMMAND }),
    );
    assert.deepEqual(others, []);
    assert.equal(wrongCase?.constraint, "file_case");
    assert.match(wrongCase.message, /is spelled '(Commands|Acme-Deals\.md)'/);
  }
  const folder = await find(fileSet({
    [COMMAND_PATH]: undefined,
    [`${COMMAND_PATH}/x`]: "",
  }));
  assert.deepEqual(folder.map(inBrief), ["error file_kind"]);
});

Deno.test("VAL-11 a path that leaves the folder never reaches the disk", async () => {
  for (
    const path of [
      "../run.md",
      "/usr/local/bin/x.md",
      "commands/../../x.md",
      "commands\\x.md",
      "./commands/x.md",
      "commands/x.md/",
      "commands/x.md ",
      "${__dirname}/commands/x.md",
      "${CLAUDE_PLUGIN_ROOT}/commands/x.md",
      "commands/a/b.md",
      "commands/é.md",
    ]
  ) {
    const untouched: DeclaredFiles = {
      list: (folder) => {
        assert.ok(
          [
            "",
            "skills",
            "skills/acme-visit-report",
            "skills/acme-visit-report/acceptance",
          ].includes(folder),
          folder,
        );
        return fileSet().list(folder);
      },
      read: (file, max) => fileSet().read(file, max),
    };
    const found = await find(untouched, (m) => m.commands[0].file = path);
    assert.deepEqual(
      found.map(({ json_pointer, constraint }) =>
        `${json_pointer} ${constraint}`
      ),
      ["/commands/0/file pattern"],
      path,
    );
  }
});

Deno.test("links, unreadable and odd files are findings", async () => {
  const kinds = (kind: EntryKind): DeclaredFiles => ({
    ...fileSet(),
    list: async (folder) => {
      const names = new Map(await fileSet().list(folder));
      if (folder === "commands") names.set("acme-deals.md", kind);
      return names;
    },
  });
  const [link] = await find(kinds("link"));
  assert.match(link?.message ?? "", /is a symbolic link, not a file/);
  assert.deepEqual((await find(kinds("other"))).map(inBrief), [
    "error file_kind",
  ]);
  const closed: DeclaredFiles = {
    ...fileSet(),
    read: () => Promise.reject(new Error("no")),
  };
  assert.ok((await find(closed)).some((f) => f.constraint === "file_readable"));
  const marked = await find(fileSet({ [COMMAND_PATH]: `\ufeff${COMMAND}` }));
  assert.deepEqual(marked.map(inBrief), ["error byte_order_mark"]);
  const large = await find(
    fileSet({ [COMMAND_PATH]: COMMAND + "x".repeat(300_000) }),
  );
  assert.deepEqual(large.map(inBrief), ["error max_bytes"]);
});

Deno.test("commands and skills are named as their files", async () => {
  const names = await find(fileSet(), (m) => {
    m.commands[0].name = "/acme-other";
    m.skills[0].id = "other";
  });
  assert.deepEqual(
    names.map(({ json_pointer, constraint }) =>
      `${json_pointer} ${constraint}`
    ),
    ["/commands/0/name name", "/skills/0/id name"],
  );
  assert.deepEqual(await inCommand('name: "acme-deals"', 'name: "deals"'), [
    "error name 2:7",
  ]);
  assert.deepEqual(
    await inSkill('name: "acme-visit-report"', 'name: "Acme-Visit-Report"'),
    ["error name 2:7"],
  );
});

Deno.test("ADP-09 an unquoted colon is an error with place and the quoted form", async () => {
  const text = SKILL.replace(
    /description: .*/,
    "description: Use this: it edits files\nallowed-tools: Read",
  );
  const [error, ...others] = await find(fileSet({ [SKILL_PATH]: text }));
  assert.deepEqual(others, []);
  assert.deepEqual(
    [error?.file, error?.line, error?.column, error?.constraint],
    [SKILL_PATH, 3, 14, "frontmatter"],
  );
  assert.equal(error?.excerpt, "description: Use this: it edits files");
  assert.ok(
    error?.hint.includes('description: "Use this: it edits files"'),
    error?.hint,
  );
});

Deno.test("ADP-09 frontmatter is read without trust", async () => {
  const broken: Record<string, string> = {
    tab: "---\n\tname: x\n---\n",
    none: "# Just text\n",
    open: "---\nname: x\n",
    list: "---\n- a\n---\n",
    tag: '---\nname: !!js/function "x"\n---\n',
    "duplicate key": "---\nname: a\nname: b\n---\n",
    aliases: "---\na: &a [1,1]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n---\n",
    nested: `---\na: ${"[".repeat(5000)}${"]".repeat(5000)}\n---\n`,
    "just too deep": `---\na: ${"[".repeat(17)}${"]".repeat(17)}\n---\n`,
    dashes: `---\n${"- ".repeat(5000)}\n---\n`,
    long: `---\na: "${"x".repeat(20_000)}"\n---\n`,
    "merge key": "---\na: &a {b: 1}\n<<: *a\nname: x\n---\n",
  };
  for (const [name, text] of Object.entries(broken)) {
    const start = performance.now();
    const found = await find(fileSet({ [SKILL_PATH]: text }));
    assert.ok(performance.now() - start < 1000, name);
    assert.ok(found.some(({ severity }) => severity === "error"), name);
    if (name !== "merge key") {
      assert.ok(
        found.every(({ constraint }) => constraint === "frontmatter"),
        name,
      );
    }
  }
});

Deno.test("ADP-09 descriptions are 60 to 480 characters without tags", async () => {
  const description = /description: .*/.exec(SKILL)?.[0] ?? "";
  const phrases = '\\"a\\" \\"b\\" \\"c\\" \\"d\\"';
  const of = (length: number) =>
    `description: "${phrases}${"x".repeat(length - 15)}"`;
  assert.deepEqual(await inSkill(description, of(60)), []);
  assert.deepEqual(await inSkill(description, of(480)), []);
  assert.deepEqual(await inSkill(description, of(59)), [
    "error minLength 3:14",
  ]);
  assert.deepEqual(await inSkill(description, of(481)), [
    "error maxLength 3:14",
  ]);
  assert.deepEqual(
    await inSkill("Write a visit", "Write <b>a</b> visit"),
    ["error no_tags 3:14"],
  );
  assert.deepEqual(
    await inSkill("Write a visit", "Write a < b and c > d visit"),
    [],
  );
  assert.deepEqual(await inSkill(description, "description: 5"), [
    "error type 3:14",
  ]);
  assert.deepEqual(await inSkill(`${description}\n`, ""), [
    "error required 1:1",
  ]);
});

Deno.test("skills have four trigger phrases, headings and trigger tests", async () => {
  assert.deepEqual(await inSkill(', \\"write up the call\\"', ""), [
    "error triggers 3:14",
  ]);
  assert.deepEqual(
    await inSkill('\\"write up the call\\"', '\\"report my visit\\"'),
    ["error triggers 3:14"],
  );
  assert.deepEqual(await inSkill("## Worked example\n", ""), [
    "warning headings 1:1",
  ]);
  assert.deepEqual(await inSkill('license: "MIT"', "license: [MIT]"), [
    "error type 4:10",
  ]);
  assert.deepEqual(await inSkill('license: "MIT"', 'licence: "MIT"'), [
    "warning unknown_member 4:10",
  ]);
  for (const tests of [undefined, TESTS.replace('- "h"\n', ""), "# Empty\n"]) {
    const found = await find(fileSet({ [TESTS_PATH]: tests }));
    assert.deepEqual(found.map(inBrief), ["warning trigger_tests"]);
    assert.equal(found[0]?.json_pointer, "/skills/0/path");
  }
});

Deno.test("command bindings name declared tools", async () => {
  assert.deepEqual(
    await inCommand(
      'tool: "cyberos.crm.list_deals"',
      'tool: "cyberos.crm.list_deal"',
    ),
    ["error declared_tool 5:11"],
  );
  assert.deepEqual(
    await inCommand('\n    when: "The person wants to see deals."', ""),
    ["error required 5:5"],
  );
  const all = /binds_to:[\s\S]*?(?=arguments)/.exec(COMMAND)?.[0] ?? "";
  assert.deepEqual(await inCommand(all, "binds_to: []\n"), [
    "error binds_to 4:11",
  ]);
  assert.deepEqual(await inCommand(all, "binds_to: cyberos.crm.list_deals\n"), [
    "error binds_to 4:11",
  ]);
});

Deno.test("command arguments are a subset by name and type", async () => {
  assert.deepEqual(await inCommand('name: "stage"', 'name: "stag"'), [
    "error argument_subset 10:11",
  ]);
  assert.deepEqual(
    await inCommand(
      'name: "stage"\n    type: "string"',
      'name: "stage"\n    type: "integer"',
    ),
    ["error argument_type 11:11"],
  );
  assert.deepEqual(
    await inCommand('name: "stage"\n    type: "string"', 'name: "stage"'),
    ["error argument_type 10:5"],
  );
  assert.deepEqual(await inCommand('name: "deal_id"', 'name: "stage"'), [
    "error unique_name 13:11",
  ]);
  const all = /arguments:[\s\S]*?(?=triggers)/.exec(COMMAND)?.[0] ?? "";
  assert.deepEqual(await inCommand(all, ""), []);
  assert.deepEqual(await inCommand(all, "arguments: []\n"), []);
  assert.deepEqual(await inCommand(all, "arguments: {}\n"), [
    "error type 9:12",
  ]);
});

Deno.test("commands have exactly four triggers", async () => {
  const line = '  - "list won deals"\n';
  assert.deepEqual(await inCommand(line, ""), ["error triggers 17:3"]);
  assert.deepEqual(await inCommand(line, `${line}  - "fifth"\n`), [
    "error triggers 17:3",
  ]);
  assert.deepEqual(await inCommand(line, '  - "show my deals"\n'), [
    "error triggers 17:3",
  ]);
});

Deno.test("a command that calls a destructive tool says so", async () => {
  assert.deepEqual(await inCommand("destructive: true", "destructive: false"), [
    "error destructive 21:14",
  ]);
  assert.deepEqual(await inCommand("destructive: true", 'destructive: "yes"'), [
    "error type 21:14",
  ]);
  assert.deepEqual(await inCommand("destructive: true\n", ""), [
    "error required 1:1",
  ]);
});

Deno.test("a command body that Codex cannot fill in is a warning for its target", async () => {
  for (const mark of ["$ARGUMENTS", "$1", "{{name}}", "@README.md"]) {
    const text = COMMAND.replace("## Example", `## Example\n\nUse ${mark}`);
    const files = fileSet({ [COMMAND_PATH]: text });
    assert.deepEqual((await find(files)).map(inBrief), [
      "warning host_form 1:1",
    ]);
    const elsewhere = await find(files, (m) => m.targets = ["claude-code"]);
    assert.deepEqual(elsewhere, []);
  }
  const mail = COMMAND.replace(
    "## Example",
    "## Example\n\nMail jane@example.com",
  );
  assert.deepEqual(await find(fileSet({ [COMMAND_PATH]: mail })), []);
});
