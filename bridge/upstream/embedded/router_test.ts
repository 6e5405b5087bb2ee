import assert from "node:assert/strict";
import { loadCatalogue } from "./catalogue.ts";
import { createRouter } from "./router.ts";
import { stemsOf } from "./words.ts";

const router = await createRouter(await loadCatalogue());

/** What people ask, and the workflows that would each be right. */
const REQUESTS: readonly (readonly [string, RegExp])[] = [
  [
    "Architect a new payment routing system for Southeast Asian markets",
    /^chief-technology-officer\/architect-new-system$/,
  ],
  [
    "We had an outage last night, run the post mortem",
    /post-incident-review|postmortem/,
  ],
  [
    "Write an ADR for choosing Postgres over Mongo",
    /adr-quick-capture|architecture-decision/,
  ],
  ["is release 2.4 ready to deploy to production?", /deploy-readiness-review/],
  ["Review our technical debt this quarter", /tech-debt/],
  ["refresh the threat model of the checkout service", /threat-model/],
  ["prove that the API meets its latency requirements", /certify-nfrs/],
  ["implement the tasks in my backlog", /ship-tasks/],
  ["prepare the board deck for next quarter", /quarterly-board/],
  ["should we hire Jane as our CFO?", /c-suite-hire-decision/],
  ["monthly update to our investors", /investor-update/],
  ["cascade company OKRs to the teams", /okr-cascade/],
  ["we want to acquire a small competitor", /mna-thesis/],
  ["close the books for October", /monthly-close/],
  ["13 week cash forecast", /cash/],
  ["A customer wants all their personal data deleted", /data-subject-request/],
  ["we leaked customer emails", /breach/],
  ["review this NDA", /nda-triage/],
  ["check the MSA from Acme", /msa-contract/],
  ["plan a campaign for the spring launch", /campaign/],
  ["write a press release about the funding round", /press-release/],
  ["customers are leaving, why?", /churn/],
  ["SOC 2 audit is in three months", /soc2/],
  ["run a penetration test", /pen-test/],
  ["write a PRD for dark mode", /prd-intake/],
  ["plan our product roadmap", /roadmap/],
  ["is our credit model biased?", /bias/],
  ["choose a new supplier for laptops", /supplier|sourcing|vendor/],
  ["adjust salary bands", /comp-bands/],
  ["patent strategy", /ip-strategy/],
];

/** What no workflow is for. */
const STRANGE: readonly string[] = [
  "asdkj qwoeiu zxmcn",
  "lorem ipsum dolor sit amet",
  "what's the weather in Paris tomorrow",
  "hello",
  "tell me a joke",
  "how do I bake sourdough bread",
  "???",
  "the the the",
  "42",
  "play some jazz music",
  "fix my bicycle",
  "translate this to French",
  "what is the capital of Mongolia",
  "book me a flight to Hanoi",
  "my cat is sick",
  "\u0000\ud800 \u202e",
];

Deno.test("route() finds a right workflow for what people ask", () => {
  const wrong = REQUESTS.flatMap(([query, right]) => {
    const { persona, workflow } = router.route(query);
    return right.test(`${persona}/${workflow}`)
      ? []
      : [`${query} → ${persona}/${workflow}`];
  });
  assert.deepEqual(wrong, []);
});

Deno.test("route() says that nothing fits where nothing does", () => {
  for (const query of STRANGE) {
    const route = router.route(query);
    assert.equal(
      route.persona,
      undefined,
      `${query} → ${route.persona}/${route.workflow}`,
    );
    assert.equal(route.confidence, 0);
    assert.ok(route.hint);
  }
});

Deno.test("route() gives confidences from 0 to 1 and alternates other than the best", () => {
  for (const [query] of REQUESTS) {
    const { persona, workflow, confidence, alternates } = router.route(query);
    assert.ok(confidence > 0 && confidence <= 1);
    assert.ok(alternates.length <= 3);
    assert.ok(!alternates.includes(`${persona}/${workflow}`));
  }
});

Deno.test("route() is surer of a workflow's own name than of a passing word", () => {
  const sure = router.route("architect new system").confidence;
  const vague = router.route(
    "I wonder whether the architecture of opera houses has changed with new payment habits",
  ).confidence;
  assert.ok(sure > 0.8 && vague < sure);
});

Deno.test("route() takes the longest query in little time", () => {
  const start = performance.now();
  router.route("architecture payment routing ".repeat(140));
  router.route(Array.from({ length: 600 }, (_, i) => `word${i}`).join(" "));
  assert.ok(performance.now() - start < 1_000);
});

Deno.test("stemsOf() makes forms of a word one, and drops words that say nothing", () => {
  assert.deepEqual(stemsOf("Routing the routes"), ["rout"]);
  assert.deepEqual(stemsOf("deployed deploys deploying"), ["deploy"]);
  assert.deepEqual(stemsOf("Phân tích"), stemsOf("phan tich"));
  assert.deepEqual(stemsOf("what is the"), []);
});
