/** A small plugin to sign, pack and damage. */
import type { Manifest } from "../../../schema/manifest.ts";
import { memoryEntry } from "../../../packer/entry.ts";
import type { BundleEntry } from "../../../packer/types.ts";

const COMMAND = `---
name: "acme-audit"
description: "Show what was recorded in the audit memory of the company, newest first, with actor, kind and time of each row."
binds_to:
  - tool: "cyberos.memory.read_audit"
    when: "The person asks what was recorded."
arguments:
  - name: "actor"
    type: "string"
    required: false
    description: "Only rows of this actor."
triggers:
  - "show the audit trail"
  - "what was recorded today"
  - "list audit rows"
  - "who changed this"
destructive: false
---

## When to use

When somebody asks what was recorded.

## Required scopes

\`cyberos:memory:read\`.

## Side effects

None.

## Example

"Show the audit trail of last week."
`;

const SKILL = `---
name: "read-trail"
description: "Read the audit trail and say what happened. Use for \\"show the audit trail\\", \\"what was recorded\\", \\"list audit rows\\", \\"who changed this\\"."
license: "Apache-2.0"
---

## When to use

When the audit trail is asked for.

## Tools chained

\`cyberos.memory.read_audit\`.

## Scopes required

\`cyberos:memory:read\`.

## Side effects

None.

## Worked example

"What was recorded yesterday?"
`;

const TRIGGERS = `## Should trigger

- show the audit trail
- what was recorded
- list audit rows
- who changed this

## Should not trigger

- what is the weather
- write a poem
- translate this text
- sum these numbers
`;

/** The plugin's manifest, not signed. */
export const MANIFEST: Omit<Manifest, "signature"> = {
  schema_version: "1.0.0",
  id: "acme-trail",
  version: "1.2.3",
  name: "Acme trail",
  description:
    "Reads the audit memory of a company and says what was recorded, by whom and when, in plain words.",
  authors: [{ name: "Acme", url: "https://acme.example" }],
  license: "Apache-2.0",
  capabilities: { read_memory: true },
  tools: [{
    name: "cyberos.memory.read_audit",
    description: "Read rows of the audit memory, newest first, filtered.",
    input_schema: {
      type: "object",
      properties: { actor: { type: "string" } },
    },
    scopes: ["cyberos:memory:read"],
  }],
  commands: [{ name: "/acme-audit", file: "commands/acme-audit.md" }],
  skills: [{ id: "read-trail", path: "skills/read-trail/SKILL.md" }],
  auth: {
    method: "oauth-pkce",
    authorize_url: "https://auth.acme.example/authorize",
    token_url: "https://auth.acme.example/token",
    scopes: ["cyberos:memory:read"],
  },
  audit: {
    endpoint: "https://memory.acme.example/v1/audit",
    kinds: [
      "plugin.installed",
      "plugin.invoked",
      "plugin.uninstalled",
      "plugin.updated",
    ],
  },
  targets: ["claude-code", "cowork", "cursor", "codex-cli"],
};

/** The author's files, with these besides or instead. */
export async function authorFiles(
  more: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>> = {},
): Promise<Map<string, BundleEntry>> {
  const texts = {
    "commands/acme-audit.md": COMMAND,
    "skills/read-trail/SKILL.md": SKILL,
    "skills/read-trail/acceptance/TRIGGER_TESTS.md": TRIGGERS,
    "assets/note.txt": "Nothing to see here.\n",
    ...more,
  };
  const entries = await Promise.all(
    Object.entries(texts).map(([path, content]) => memoryEntry(path, content)),
  );
  return new Map(entries.map((entry) => [entry.path, entry]));
}

/** The command's file. */
export const COMMAND_TEXT: string = COMMAND;
/** The skill's file. */
export const SKILL_TEXT: string = SKILL;
