/** Answers stay small enough for a host, with a way to get the rest. */
import assert from "node:assert/strict";
import { Harness, type Loose } from "../../support/bridge_harness.ts";
import { TENANT_A } from "../../support/tokens.ts";

Deno.test("read_audit cuts rows at the limit and next_seq leads through all of them once", async () => {
  const harness = new Harness({ options: { maxAnswerChars: 5000 } });
  const rows = Array.from({ length: 100 }, (_, index) => ({
    seq: index + 1,
    kind: "decision",
    body: { text: "x".repeat(100 + index) },
  }));
  harness.upstreams.rows.set(TENANT_A, rows);
  const seen: number[] = [];
  let since: number | null = 0;
  for (let page = 0; since !== null; page++) {
    assert.ok(page < 20, "pages end");
    const args: Loose = { since_seq: since, limit: 40 };
    const { result }: Loose = await harness.tool(
      "cyberos.memory.read_audit",
      args,
    );
    assert.ok(result.content[0].text.length < 5200);
    const content = result.structuredContent;
    seen.push(...content.rows.map(({ seq }: Loose) => seq));
    since = content.next_seq;
  }
  assert.deepEqual(seen, rows.map(({ seq }) => seq));
});

Deno.test("read_audit gives a row that is over the limit by itself", async () => {
  const harness = new Harness({ options: { maxAnswerChars: 1000 } });
  harness.upstreams.rows.set(TENANT_A, [
    { seq: 1, body: "x".repeat(3000) },
    { seq: 2, body: "y" },
  ]);
  const { result } = await harness.tool("cyberos.memory.read_audit");
  assert.equal(result.structuredContent.rows.length, 1);
  assert.equal(result.structuredContent.next_seq, 1);
});

Deno.test("read_audit never cuts rows that have no number to go on from", async () => {
  const harness = new Harness({ options: { maxAnswerChars: 10 } });
  harness.upstreams.behaviours.set("memory.readAudit", () => ({
    rows: [{ a: "x".repeat(50) }, { a: "y" }],
    nextSeq: null,
  }));
  const { result } = await harness.tool("cyberos.memory.read_audit");
  assert.equal(result.structuredContent.rows.length, 2);
  assert.equal(result.structuredContent.next_seq, null);
});

Deno.test("read_audit passes its filters on and reads 50 rows by default", async () => {
  const harness = new Harness();
  await harness.tool("cyberos.memory.read_audit");
  await harness.tool("cyberos.memory.read_audit", {
    actor: "a",
    kind: "k",
    since_seq: 0,
    limit: 7,
  });
  assert.deepEqual(harness.upstreams.calls.map(({ input }) => input), [
    { limit: 50 },
    { actor: "a", kind: "k", sinceSeq: 0, limit: 7 },
  ]);
});

function withSkills(count: number, maxAnswerChars = 60_000): Harness {
  const harness = new Harness({ options: { maxAnswerChars } });
  harness.upstreams.skillList = Array.from({ length: count }, (_, index) => ({
    skillId: `skill-${String(index).padStart(3, "0")}`,
    ...(index % 2 ? { title: `Odd one ${index}` } : {}),
    description: `Does thing ${index} of ${index % 10}`,
  }));
  return harness;
}

async function catalog(harness: Harness, args: Loose): Promise<Loose> {
  return (await harness.tool("cyberos.skill.list_catalog", args)).result
    .structuredContent;
}

Deno.test("list_catalog gives 100 skills by default, and every skill once through next_offset", async () => {
  for (const harness of [withSkills(248), withSkills(248, 2000)]) {
    const first = await catalog(harness, {});
    assert.ok(first.skills.length <= 100);
    assert.equal(first.total, 248);
    const seen: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const page: Loose = await catalog(harness, { offset });
      seen.push(...page.skills.map(({ skill_id }: Loose) => skill_id));
      offset = page.next_offset;
    }
    assert.equal(new Set(seen).size, 248);
    assert.equal(seen.length, 248);
  }
});

Deno.test("list_catalog finds skills that have all words, in any case of letters", async () => {
  const harness = withSkills(50);
  const both = await catalog(harness, { filter: "ODD  17" });
  assert.deepEqual(both.skills.map(({ skill_id }: Loose) => skill_id), [
    "skill-017",
  ]);
  assert.equal(both.total, 1);
  const none = await catalog(harness, { filter: "nothing-like-it" });
  assert.deepEqual(none, { skills: [], total: 0 });
  const past = await catalog(harness, { offset: 1000 });
  assert.deepEqual(past, { skills: [], total: 50 });
});

Deno.test("list_catalog names the skills that could not be read, at most 50 and how many more", async () => {
  const harness = withSkills(1);
  harness.upstreams.problems = Array.from({ length: 60 }, (_, index) => ({
    skillId: `broken-${index}`,
    reason: "SKILL.md has no description",
  }));
  const { problems } = await catalog(harness, {});
  assert.equal(problems.length, 51);
  assert.match(problems[50].reason, /^10 more/);
  const later = await catalog(harness, { offset: 1 });
  assert.equal(later.problems, undefined);
});
