/**
 * What we ship in the plugin: the manifest agrees with `schema/tools.ts`, and
 * commands and skills keep to the rules that hosts hold them to.
 *
 * After a change of `schema/tools.ts`, this writes the manifest's `tools` and
 * `auth.scopes` anew (and so makes a new signature necessary):
 *
 *     deno test --allow-read --ignore-env --allow-write=manifests \
 *       tests/contract/shipped_manifest_content_test.ts -- --update
 *
 * `--ignore-env` is for the yaml package, which looks at `LOG_TOKENS`.
 */
import assert from "node:assert/strict";
import { parse } from "yaml";
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import type { Manifest, ManifestTool } from "../../schema/manifest.ts";
import { type Capability, CAPABILITY_SCOPES } from "../../schema/scopes.ts";
import { ALL_SCOPES, findTool, TOOLS } from "../../schema/tools.ts";

const ROOT = new URL("../../manifests/", import.meta.url);
const MANIFEST = new URL("cyberos@1.0.0.plugin.json", ROOT);

const COMMANDS = [
  "cyberos-run",
  "cyberos-memory",
  "cyberos-skill-list",
  "cyberos-route",
];

const SKILLS = [
  "run-cuo-workflow",
  "route-natural-language",
  "cross-workflow-chain",
  "audit-trail-query",
  "audit-trail-append",
  "memory-write-discipline",
  "discover-skills",
  "persona-discovery",
  "workflow-inspection",
  "invoke-cyberos-skill",
  "auth-and-scopes",
  "audit-emission-discipline",
];

const COMMAND_HEADINGS = [
  "When to use",
  "Required scopes",
  "Side effects",
  "Example",
];

const SKILL_HEADINGS = [
  "When to use",
  "Tools chained",
  "Scopes required",
  "Side effects",
  "Worked example",
];

interface Document {
  readonly path: string;
  readonly text: string;
  readonly frontmatter: string;
  readonly fields: JsonObject;
  readonly body: string;
}

interface CommandFields {
  readonly binds_to: readonly {
    readonly tool: string;
    readonly when: string;
  }[];
  readonly arguments: readonly {
    readonly name: string;
    readonly type: string;
    readonly required: boolean;
    readonly description: string;
  }[];
  readonly triggers: readonly string[];
  readonly destructive: boolean;
}

function expectedTools(): ManifestTool[] {
  return TOOLS.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema,
    annotations: tool.annotations,
    scopes: tool.scopes,
  }));
}

async function readManifest(): Promise<Manifest> {
  return JSON.parse(await Deno.readTextFile(MANIFEST)) as Manifest;
}

async function readDocument(path: string): Promise<Document> {
  const text = await Deno.readTextFile(new URL(path, ROOT));
  const parts = /^---\n(.*?)\n---\n(.*)$/s.exec(text);
  assert.ok(parts, `${path} has no frontmatter`);
  const [, frontmatter = "", body = ""] = parts;
  const fields = parse(frontmatter) as JsonObject;
  return { path, text, frontmatter, fields, body };
}

const commandDocument = (name: string) => readDocument(`commands/${name}.md`);
const skillDocument = (name: string) => readDocument(`skills/${name}/SKILL.md`);

async function allDocuments(): Promise<Document[]> {
  return await Promise.all([
    ...COMMANDS.map(commandDocument),
    ...SKILLS.map(skillDocument),
  ]);
}

function headings(body: string): string[] {
  const prose = body.replaceAll(/^```.*?^```$/gms, "");
  return [...prose.matchAll(/^#+ (.*)$/gm)].map((match) => match[1] ?? "");
}

function assertDescription(where: string, description: JsonValue | undefined) {
  assert.equal(typeof description, "string", where);
  const text = description as string;
  assert.ok(text.length >= 60 && text.length <= 480, `${where}: length`);
  assert.doesNotMatch(text, /[<>\n]/, where);
}

function assertFieldNames(document: Document, names: readonly string[]) {
  assert.deepEqual(Object.keys(document.fields), names, document.path);
}

if (Deno.args.includes("--update")) {
  const manifest = await readManifest();
  const auth = { ...manifest.auth, scopes: ALL_SCOPES };
  const updated = { ...manifest, tools: expectedTools(), auth };
  await Deno.writeTextFile(MANIFEST, JSON.stringify(updated, null, 2) + "\n");
}

Deno.test("shipped manifest offers exactly the tools of schema/tools.ts", async () => {
  const { tools } = await readManifest();
  assert.equal(tools.length, 8);
  assert.deepEqual(tools, JSON.parse(JSON.stringify(expectedTools())));
  for (const tool of tools) assert.ok(tool.description.length >= 30, tool.name);
});

Deno.test("shipped manifest asks for every scope its tools need and no other", async () => {
  const { auth } = await readManifest();
  assert.deepEqual(auth.scopes, [...ALL_SCOPES]);
  assert.equal(auth.method, "oauth-pkce");
  const issuer = "https://auth.cyberskill.world/v1/oauth";
  assert.equal(auth.authorize_url, `${issuer}/authorize`);
  assert.equal(auth.token_url, `${issuer}/token`);
});

Deno.test("shipped manifest declares a capability exactly when a tool carries its scope", async () => {
  const { capabilities, tools } = await readManifest();
  const scopes = new Set(tools.flatMap((tool) => tool.scopes));
  for (const [capability, scope] of Object.entries(CAPABILITY_SCOPES)) {
    const declared = capabilities[capability as Capability] ?? false;
    assert.equal(declared, scopes.has(scope), capability);
  }
});

Deno.test("shipped manifest names four commands and twelve skills, each with its file", async () => {
  const { commands = [], skills = [] } = await readManifest();
  assert.deepEqual(
    commands.map(({ name, file }) => ({ name, file })),
    COMMANDS.map((name) => ({
      name: `/${name}`,
      file: `commands/${name}.md`,
    })),
  );
  assert.deepEqual(
    skills,
    SKILLS.map((id) => ({ id, path: `skills/${id}/SKILL.md` })),
  );
  await allDocuments();
});

Deno.test("shipped manifest has no file that it does not name", async () => {
  const names = async (folder: string) => {
    const found: string[] = [];
    for await (const entry of Deno.readDir(new URL(folder, ROOT))) {
      found.push(entry.name);
    }
    return found.sort();
  };
  const commandFiles = COMMANDS.map((name) => `${name}.md`).sort();
  assert.deepEqual(await names("commands/"), commandFiles);
  assert.deepEqual(await names("skills/"), [...SKILLS].sort());
  for (const name of SKILLS) {
    assert.deepEqual(await names(`skills/${name}/`), [
      "SKILL.md",
      "acceptance",
    ]);
    assert.deepEqual(await names(`skills/${name}/acceptance/`), [
      "TRIGGER_TESTS.md",
    ]);
  }
});

Deno.test("shipped manifest names our endpoints, audit kinds and hosts", async () => {
  const manifest = await readManifest();
  assertDescription("manifest", manifest.description);
  assert.equal(manifest.id, "cyberos");
  assert.equal(manifest.version, "1.0.0");
  const { audit, targets } = manifest;
  assert.equal(audit.endpoint, "https://memory.cyberskill.world/v1/audit");
  assert.ok(audit.kinds.length >= 4);
  assert.deepEqual(targets, ["claude-code", "cowork", "cursor", "codex-cli"]);
});

Deno.test("shipped commands carry exactly the agreed frontmatter", async () => {
  for (const name of COMMANDS) {
    const command = await commandDocument(name);
    assertFieldNames(command, [
      "name",
      "description",
      "binds_to",
      "arguments",
      "triggers",
      "destructive",
    ]);
    assert.equal(command.fields["name"], name);
    assertDescription(name, command.fields["description"]);
    const { triggers } = command.fields as unknown as CommandFields;
    assert.equal(triggers.length, 4, name);
    assert.equal(new Set(triggers).size, 4, name);
  }
});

Deno.test("shipped commands bind tools that exist and say when", async () => {
  for (const name of COMMANDS) {
    const { fields } = await commandDocument(name);
    const { binds_to, destructive } = fields as unknown as CommandFields;
    const tools = binds_to.map(({ tool, when }) => {
      assert.ok(when.length > 20, `${name}: ${tool}`);
      const found = findTool(tool);
      assert.ok(found, `${name} binds ${tool}`);
      return found;
    });
    assert.ok(tools.length > 0, name);
    assert.equal(
      destructive,
      tools.some((tool) => tool.annotations.destructive),
      name,
    );
  }
});

Deno.test("shipped commands take arguments of the bound tools' input schemas", async () => {
  for (const name of COMMANDS) {
    const { fields } = await commandDocument(name);
    const command = fields as unknown as CommandFields;
    const schemas = command.binds_to.map(({ tool }) =>
      findTool(tool)?.inputSchema
    );
    for (const argument of command.arguments) {
      const where = `${name}: ${argument.name}`;
      assert.deepEqual(
        Object.keys(argument),
        ["name", "type", "required", "description"],
        where,
      );
      const schema = schemas.find((schema) =>
        argument.name in (schema?.["properties"] as JsonObject)
      );
      const property = (schema?.["properties"] as JsonObject | undefined)?.[
        argument.name
      ] as JsonObject | undefined;
      assert.equal(property?.["type"], argument.type, where);
      if (argument.required) {
        const required = schema?.["required"] as string[] | undefined;
        assert.ok(required?.includes(argument.name), where);
      }
    }
  }
});

Deno.test("shipped skills carry exactly the agreed frontmatter", async () => {
  for (const name of SKILLS) {
    const skill = await skillDocument(name);
    assertFieldNames(skill, ["name", "description", "license"]);
    assert.equal(skill.fields["name"], name);
    assert.equal(skill.fields["license"], "Apache-2.0");
    const description = skill.fields["description"];
    assertDescription(name, description);
    const phrases = String(description).match(/"[^"]{5,}"/g) ?? [];
    assert.ok(phrases.length >= 4, `${name}: ${phrases.length} phrases`);
  }
});

Deno.test("shipped frontmatter writes every text as a double-quoted scalar", async () => {
  for (const { path, frontmatter } of await allDocuments()) {
    for (const line of frontmatter.split("\n")) {
      assert.match(
        line,
        /^(?: *(?:- )?[a-z_]+:(?: (?:"(?:[^"\\]|\\.)*"|true|false))?| *- "(?:[^"\\]|\\.)*")$/,
        path,
      );
    }
  }
});

Deno.test("shipped bodies have exactly the agreed headings, in order", async () => {
  for (const name of COMMANDS) {
    const { body } = await commandDocument(name);
    assert.deepEqual(headings(body), COMMAND_HEADINGS, name);
  }
  for (const name of SKILLS) {
    const { body } = await skillDocument(name);
    assert.deepEqual(headings(body), SKILL_HEADINGS, name);
  }
});

Deno.test("shipped bodies have nothing that a host substitutes, runs or drops", async () => {
  for (const { path, text } of await allDocuments()) {
    assert.doesNotMatch(text, /\$ARGUMENTS|\$\d|\$\{/, path);
    assert.doesNotMatch(text, /\{\{|\}\}/, path);
    assert.doesNotMatch(text, /@[A-Za-z0-9_./-]/, path);
    assert.doesNotMatch(text, /!`|```!/, path);
    assert.doesNotMatch(text, /<[a-z/!]/i, path);
  }
});

Deno.test("shipped bodies name only tools and scopes that exist", async () => {
  const scopes = new Set<string>(ALL_SCOPES);
  for (const { path, body } of await allDocuments()) {
    for (const [tool] of body.matchAll(/cyberos\.[a-z]+\.[a-z_]+/g)) {
      assert.ok(findTool(tool), `${path}: ${tool}`);
    }
    for (const [scope] of body.matchAll(/cyberos:[a-z]+:[a-z]+/g)) {
      assert.ok(scopes.has(scope), `${path}: ${scope}`);
    }
  }
});

Deno.test("shipped commands state every scope of the tools they bind", async () => {
  for (const name of COMMANDS) {
    const { body, fields } = await commandDocument(name);
    const stated = body.slice(
      body.indexOf("## Required scopes"),
      body.indexOf("## Side effects"),
    );
    const { binds_to } = fields as unknown as CommandFields;
    for (const { tool } of binds_to) {
      for (const scope of findTool(tool)?.scopes ?? []) {
        assert.ok(stated.includes(`\`${scope}\``), `${name}: ${scope}`);
      }
    }
  }
});

Deno.test("shipped bodies mention only personas, workflows and skills of the catalogue", async () => {
  const read = async (name: string) =>
    JSON.parse(
      await Deno.readTextFile(new URL(`catalog/${name}.json`, ROOT)),
    );
  const { personas } = await read("personas") as {
    personas: { slug: string; workflows: { slug: string }[] }[];
  };
  const { skills } = await read("skills") as { skills: { id: string }[] };
  const slugs = new Set(personas.map((persona) => persona.slug));
  const pairs = new Set(
    personas.flatMap((persona) =>
      persona.workflows.map((workflow) => `${persona.slug}/${workflow.slug}`)
    ),
  );
  const ids = new Set(skills.map((skill) => skill.id));
  for (const { path, body } of await allDocuments()) {
    for (const [persona] of body.matchAll(/chief-[a-z-]+[a-z]/g)) {
      assert.ok(slugs.has(persona), `${path}: ${persona}`);
    }
    for (const [pair] of body.matchAll(/chief-[a-z-]+\/[a-z0-9-]+[a-z0-9]/g)) {
      assert.ok(pairs.has(pair), `${path}: ${pair}`);
    }
    for (const [id] of body.matchAll(/\b[a-z][a-z-]*-(?:author|audit)\b/g)) {
      assert.ok(ids.has(id), `${path}: ${id}`);
    }
  }
});

Deno.test("shipped skills have four phrases that trigger and four that do not", async () => {
  const seen = new Set<string>();
  for (const name of SKILLS) {
    const path = `skills/${name}/acceptance/TRIGGER_TESTS.md`;
    const text = await Deno.readTextFile(new URL(path, ROOT));
    const [, should = "", not = ""] = text.split(/^## .*$/m);
    assert.deepEqual(headings(text).slice(1), [
      "Should trigger",
      "Should not trigger",
    ]);
    for (const part of [should, not]) {
      const phrases = [...part.matchAll(/^- "([^"]+)"/gm)].map(([, p]) => p);
      assert.equal(phrases.length, 4, path);
    }
    for (const [, phrase = ""] of should.matchAll(/^- "([^"]+)"/gm)) {
      assert.ok(!seen.has(phrase), `${phrase} triggers two skills`);
      seen.add(phrase);
    }
    for (const [, other = ""] of not.matchAll(/: use ([a-z-]+)/g)) {
      assert.ok(SKILLS.includes(other) && other !== name, `${path}: ${other}`);
    }
  }
});
