import assert from "node:assert/strict";
import {
  parseExecuteLine,
  parsePersonas,
  parseRoute,
  parseWorkflows,
  saysNoMatch,
} from "./cli_output.ts";

const lines = (text: string) => text.split("\n");

Deno.test("parsePersonas() reads slug, status, count and title", () => {
  const { personas, promised } = parsePersonas(lines(
    `# 2 shipped + 1 planned + 1 extinct = 4 total
  chief-technology-officer            [shipped ] 10 workflows — Chief Technology Officer
  chief-administrative-officer        [shipped ] 4 workflows — Chief Administrative Officer (Admin — all)
  chief-new-officer                   [planned ] 0 workflows
something else that it may print`,
  ));
  assert.equal(promised, 2);
  assert.deepEqual(personas.map((p) => [p.slug, p.status, p.workflowCount]), [
    ["chief-technology-officer", "shipped", 10],
    ["chief-administrative-officer", "shipped", 4],
    ["chief-new-officer", "planned", 0],
  ]);
  assert.equal(
    personas[1]!.title,
    "Chief Administrative Officer (Admin — all)",
  );
  assert.equal(personas[2]!.title, "Chief New Officer");
});

Deno.test("parsePersonas() refuses what is no list, and takes an empty one", () => {
  assert.throws(() => parsePersonas(lines("hello\nworld")), /list of personas/);
  assert.deepEqual(parsePersonas(["# 0 shipped + 0 planned"]).personas, []);
});

Deno.test("parseWorkflows() reads cadences with spaces and chains that are blocked", () => {
  const workflows = parseWorkflows(lines(
    `# chief-technology-officer: 3 workflow(s)
  adr-quick-capture                                  cadence=on-demand  chain= 2 [valid]
  ship-tasks                                         cadence=per-task (loops continuously over BACKLOG.md) chain=32 [valid]
  certify-nfrs                                       cadence=quarterly + per-event chain= 4 [BLOCKED (1 missing + 0 planned)]`,
  ));
  assert.deepEqual(workflows.map((w) => [w.slug, w.cadence]), [
    ["adr-quick-capture", "on-demand"],
    ["ship-tasks", "per-task (loops continuously over BACKLOG.md)"],
    ["certify-nfrs", "quarterly + per-event"],
  ]);
  assert.match(workflows[1]!.description!, /32 skills/);
  assert.match(workflows[2]!.description!, /BLOCKED/);
  assert.throws(() => parseWorkflows(["Traceback"]), /list of workflows/);
});

const ROUTE =
  `# route('Architect a system → b/c') → chief-technology-officer/architect-new-system
  confidence: 0.66
  rationale:  workflow scored 0.77
  alternative personas:
    chief-product-officer               0.30
  alternative workflows:
    adr-quick-capture                   0.14
    chief-product-officer/product-roadmap  0.10`;

Deno.test("parseRoute() reads target, confidence, rationale and alternatives", () => {
  const route = parseRoute(lines(ROUTE));
  assert.equal(route.persona, "chief-technology-officer");
  assert.equal(route.workflow, "architect-new-system");
  assert.equal(route.confidence, 0.66);
  assert.equal(route.rationale, "workflow scored 0.77");
  assert.deepEqual(route.pairs, ["chief-product-officer/product-roadmap"]);
  assert.deepEqual(route.workflows, ["adr-quick-capture"]);
});

Deno.test("parseRoute() refuses a confidence that is none", () => {
  for (const bad of ["7.5", "-1", "NaN", "1e9", ""]) {
    const text = ROUTE.replace("0.66", bad);
    assert.throws(() => parseRoute(lines(text)), /route/, bad);
  }
});

Deno.test("saysNoMatch() sees the verdict, not the echo of the query", () => {
  assert.ok(saysNoMatch(["# route('x') → NO_MATCH (nothing scored)"]));
  assert.ok(saysNoMatch(["NO_MATCH"]));
  assert.ok(!saysNoMatch(lines(ROUTE)));
  assert.ok(!saysNoMatch(["# route('NO_MATCH') → a/b"]));
});

Deno.test("parseExecuteLine() reads the outcome and each step", () => {
  assert.deepEqual(
    parseExecuteLine("# execute cuo/cto/adr-quick-capture → COMPLETED"),
    { kind: "outcome", outcome: "COMPLETED" },
  );
  assert.deepEqual(
    parseExecuteLine(
      "  ✓ step  1 [OK     ] architecture-decision-record-author    12ms",
    ),
    {
      kind: "step",
      step: 1,
      status: "OK",
      skill: "architecture-decision-record-author",
      durationMs: 12,
    },
  );
  assert.equal(parseExecuteLine("  note: something"), undefined);
});

Deno.test("the parsers take hostile lines in linear time", () => {
  const long = `  a${" ".repeat(200_000)}[`;
  const start = performance.now();
  assert.throws(() => parsePersonas([long]));
  assert.throws(() => parseWorkflows([long]));
  assert.throws(() => parseRoute([`# route(${"→ a/".repeat(50_000)}`]));
  parseExecuteLine(long);
  assert.ok(performance.now() - start < 1_000);
});
