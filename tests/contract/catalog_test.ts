/**
 * The embedded catalogue (`manifests/catalog/`): the identifiers are CyberOS's
 * own, and every text that a person or a model reads is really there.
 */
import assert from "node:assert/strict";

interface Workflow {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly cadence: string;
  readonly version: string;
  readonly pattern: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly skill_chain: readonly string[];
}

interface Persona {
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly status: string;
  readonly workflows: readonly Workflow[];
}

interface Skill {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly description: string;
  readonly origin: string;
  readonly instructions: string;
}

/** SHA-256 of every identifier of the catalogue, as `identifierLines` lists them. */
const IDENTIFIERS =
  "7480d8b8c91dd54b1d6211646b9961dc165fd1c8bd5183b61bfab832e5a90df4";

/** The two personas whose chains are written by hand from end to end. */
const HAND_WRITTEN = ["chief-technology-officer", "chief-executive-officer"];

/** The one workflow that only redirects: it takes nothing and runs nothing. */
const RETIRED = "chief-technology-officer/run-improvement-program";

async function readCatalog(name: string): Promise<unknown> {
  const url = new URL(`../../manifests/catalog/${name}.json`, import.meta.url);
  return JSON.parse(await Deno.readTextFile(url));
}

const { personas } = await readCatalog("personas") as { personas: Persona[] };
const { skills } = await readCatalog("skills") as { skills: Skill[] };
const { synonyms } = await readCatalog("synonyms") as {
  synonyms: Record<string, string[]>;
};

const workflows = personas.flatMap((persona) =>
  persona.workflows.map((workflow) => ({
    id: `${persona.slug}/${workflow.slug}`,
    persona: persona.slug,
    ...workflow,
  }))
);
const skillById = new Map(skills.map((skill) => [skill.id, skill]));

function identifierLines(): string {
  const lines = personas.flatMap((persona) => [
    [persona.slug, persona.title, persona.status].join("|"),
    ...persona.workflows.map((workflow) =>
      [
        `${persona.slug}/${workflow.slug}`,
        workflow.cadence,
        workflow.version,
        workflow.pattern,
        workflow.inputs.join(","),
        workflow.outputs.join(","),
        workflow.skill_chain.join(","),
      ].join("|")
    ),
  ]);
  return [...lines, ...skills.map((skill) => skill.id)].join("\n");
}

function repeated(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

Deno.test("catalog has 47 shipped personas, 1 extinct, 224 workflows and 248 skills", () => {
  const count = (status: string) =>
    personas.filter((persona) => persona.status === status).length;
  assert.equal(count("shipped"), 47);
  assert.equal(count("extinct"), 1);
  assert.equal(personas.length, 48);
  assert.equal(workflows.length, 224);
  assert.equal(skills.length, 248);
});

Deno.test("catalog keeps CyberOS's identifiers byte for byte", async () => {
  const bytes = new TextEncoder().encode(identifierLines());
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  assert.equal(digest.toHex(), IDENTIFIERS);
});

Deno.test("catalog identifiers are unique", () => {
  assert.deepEqual(repeated(personas.map((persona) => persona.slug)), []);
  assert.deepEqual(repeated(workflows.map((workflow) => workflow.id)), []);
  assert.deepEqual(repeated(skills.map((skill) => skill.id)), []);
});

Deno.test("catalog has every skill that a chain names", () => {
  const missing = workflows.flatMap((workflow) =>
    workflow.skill_chain
      .filter((id) => !skillById.has(id))
      .map((id) => `${workflow.id}: ${id}`)
  );
  assert.deepEqual(missing, []);
});

Deno.test("catalog workflows take, make and run something, save the retired one", () => {
  const empty = workflows.filter((workflow) =>
    workflow.inputs.length === 0 || workflow.outputs.length === 0 ||
    workflow.skill_chain.length === 0
  );
  assert.deepEqual(empty.map((workflow) => workflow.id), [RETIRED]);
  const extinct = personas.filter((persona) => persona.workflows.length === 0);
  assert.deepEqual(extinct.map((persona) => persona.status), ["extinct"]);
});

Deno.test("catalog texts are present and of useful length", () => {
  const texts: [string, string, number][] = [
    ...personas.flatMap((p): [string, string, number][] => [
      [`${p.slug} title`, p.title, 10],
      [`${p.slug} description`, p.description, 60],
    ]),
    ...workflows.flatMap((w): [string, string, number][] => [
      [`${w.id} title`, w.title, 8],
      [`${w.id} description`, w.description, 60],
      [`${w.id} cadence`, w.cadence, 5],
      [`${w.id} version`, w.version, 5],
      [`${w.id} pattern`, w.pattern, 5],
    ]),
    ...skills.flatMap((s): [string, string, number][] => [
      [`${s.id} title`, s.title, 4],
      [`${s.id} description`, s.description, 40],
      [`${s.id} instructions`, s.instructions, 900],
    ]),
  ];
  const short = texts.filter(([, text, least]) => text.trim().length < least);
  assert.deepEqual(short.map(([where]) => where), []);
});

Deno.test("catalog describes no two things with the same words", () => {
  const descriptions = [
    ...personas.map((persona) => persona.description),
    ...workflows.map((workflow) => workflow.description),
    ...skills.map((skill) => skill.description),
  ];
  assert.deepEqual(repeated(descriptions), []);
  assert.deepEqual(repeated(skills.map((skill) => skill.instructions)), []);
});

Deno.test("catalog titles tell the workflows of one persona apart", () => {
  for (const persona of personas) {
    const titles = persona.workflows.map((workflow) => workflow.title);
    assert.deepEqual(repeated(titles), [], persona.slug);
  }
});

Deno.test("catalog skills carry the kind that their id says", () => {
  const kinds: Record<string, number> = {};
  for (const { id, kind } of skills) {
    kinds[kind] = (kinds[kind] ?? 0) + 1;
    if (/-(author|audit|gate)$/.test(id)) {
      assert.ok(id.endsWith(`-${kind}`), `${id} is not a ${kind}`);
    } else assert.equal(kind, "other", id);
  }
  assert.deepEqual(kinds, { author: 117, audit: 115, gate: 2, other: 14 });
});

Deno.test("catalog skills of the CTO's and CEO's chains are written by hand", () => {
  const ids = new Set(
    workflows
      .filter((workflow) => HAND_WRITTEN.includes(workflow.persona))
      .flatMap((workflow) => workflow.skill_chain),
  );
  assert.equal(ids.size, 56);
  for (const id of ids) {
    const skill = skillById.get(id);
    assert.equal(skill?.origin, "written", id);
    assert.ok(skill.instructions.length <= 2500, id);
  }
});

Deno.test("catalog instructions say what comes in, what goes out and when to stop", () => {
  const parts = ["Goal", "Inputs", "Method", "Quality bar", "Output"];
  for (const { id, kind, origin, instructions } of skills) {
    assert.ok(["written", "derived"].includes(origin), id);
    const wanted = kind === "audit"
      ? parts.map((part) => part === "Quality bar" ? "Verdict" : part)
      : parts;
    for (const part of [...wanted, "Stop and ask"]) {
      assert.ok(instructions.includes(`**${part}`), `${id}: no ${part}`);
    }
    assert.match(instructions, /and-off keys: /, id);
  }
});

Deno.test("synonyms are lower-case phrases that lead to words of the catalogue", () => {
  const entries = Object.entries(synonyms);
  assert.ok(entries.length >= 60 && entries.length <= 150);
  const words = new Set(
    workflows
      .map((w) => `${w.id} ${w.title} ${w.description}`.toLowerCase())
      .join(" ")
      .split(/[^a-z0-9&-]+/)
      .flatMap((word) => [word, ...word.split("-")]),
  );
  for (const [phrase, terms] of entries) {
    assert.equal(phrase, phrase.toLowerCase().trim());
    assert.ok(terms.length > 0, phrase);
    assert.deepEqual(repeated(terms), [], phrase);
    assert.ok(terms.some((term) => words.has(term)), `${phrase} leads nowhere`);
  }
});
