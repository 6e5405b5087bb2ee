import assert from "node:assert/strict";
import type { Workflow } from "../../types.ts";
import { planOf } from "./plan.ts";

function workflow(parts: Partial<Workflow>): Workflow {
  return {
    slug: "w",
    cadence: "annual",
    inputs: ["brief"],
    outputs: [],
    skillChain: [],
    ...parts,
  };
}

Deno.test("planOf() gives each author an output and each audit the author before it", () => {
  const { steps, artifacts } = planOf(workflow({
    outputs: ["srs", "plan"],
    skillChain: ["srs-author", "srs-audit", "plan-author", "plan-audit"],
  }));
  assert.deepEqual(steps.map((s) => [s.uses, s.makes, s.checks]), [
    [["brief"], ["srs"], undefined],
    [["srs"], ["srs_verdict"], 1],
    [["brief", "srs"], ["plan"], undefined],
    [["plan"], ["plan_verdict"], 3],
  ]);
  assert.deepEqual(artifacts, [
    { name: "srs", fromStep: 1 },
    { name: "plan", fromStep: 3 },
  ]);
});

Deno.test("planOf() matches outputs by their words and leaves the rest to the last maker", () => {
  const { steps, artifacts } = planOf(workflow({
    outputs: ["edge_case_matrix", "summary"],
    skillChain: ["context-map-author", "edge-case-matrix-author", "wrap-up"],
  }));
  assert.deepEqual(steps.map((s) => s.makes), [
    ["context_map"],
    ["edge_case_matrix"],
    ["summary"],
  ]);
  assert.deepEqual(artifacts.map((a) => a.fromStep), [2, 3]);
});

Deno.test("planOf() plans audits without author, repeated skills and empty chains", () => {
  const { steps } = planOf(workflow({
    skillChain: [
      "task-audit",
      "state-author",
      "state-audit",
      "state-author",
      "state-audit",
    ],
  }));
  assert.deepEqual(steps.map((s) => s.checks), [
    undefined,
    undefined,
    2,
    undefined,
    4,
  ]);
  assert.deepEqual(planOf(workflow({ outputs: ["x"] })), {
    steps: [],
    artifacts: [],
  });
});

Deno.test("planOf() names at most a handful of earlier results a step", () => {
  const { steps } = planOf(workflow({
    skillChain: Array.from({ length: 30 }, (_, i) => `part${i}-author`),
  }));
  assert.ok(steps.every((s) => s.uses.length <= 7));
});
