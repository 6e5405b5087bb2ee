import assert from "node:assert/strict";
import type { SkillText } from "../skills/library.ts";
import { briefingOf, fairShare, MAX_BRIEFING_CHARS } from "./briefing.ts";
import { planOf } from "./plan.ts";

// deno-lint-ignore no-explicit-any -- outputs are read loosely by assertions.
type Loose = any;

function brief(
  chain: readonly string[],
  instructionChars: number,
  inputs: Record<string, string> = {},
): Loose {
  const workflow = {
    slug: "w",
    title: "W",
    description: "",
    cadence: "annual",
    inputs: ["brief"],
    outputs: ["result"],
    skillChain: chain,
  };
  const skills = new Map<string, SkillText>(
    chain.filter((id) => !id.startsWith("missing")).map((skillId) => [skillId, {
      skillId,
      description: `Does ${skillId}.`,
      instructions: "A line of what to do.\n".repeat(instructionChars / 22),
      origin: "test",
    }]),
  );
  return briefingOf({
    persona: "p",
    workflow,
    plan: planOf(workflow),
    skills,
    inputs,
  });
}

Deno.test("briefingOf() gives short instructions whole, and each text once", () => {
  const { steps } = brief(["a-author", "a-audit", "a-author"], 1_000);
  assert.ok(steps[0].instructions.length > 900);
  assert.equal(steps[0].instructions_from, undefined);
  assert.equal(steps[2].instructions, undefined);
  assert.equal(steps[2].instructions_as_in_step, 1);
});

Deno.test("briefingOf() trims long instructions and says where the rest is", () => {
  const output = brief(
    Array.from({ length: 32 }, (_, i) => `skill${i}-author`),
    50_000,
  );
  assert.ok(JSON.stringify(output).length <= MAX_BRIEFING_CHARS + 200);
  for (const step of output.steps) {
    assert.ok(step.instructions.length > 300);
    assert.equal(step.instructions_from, "cyberos.skill.invoke_skill");
  }
});

Deno.test("briefingOf() names the rest where there is no room for instructions at all", () => {
  const output = brief(
    Array.from({ length: 110 }, (_, i) => `skill${i}-author`),
    2_000,
  );
  assert.ok(
    output.steps.every((s: Loose) =>
      s.instructions === undefined && s.instructions_from
    ),
  );
});

Deno.test("briefingOf() says which skills are missing", () => {
  const { steps, steps_executed } = brief(["a-author", "missing-author"], 500);
  assert.equal(steps_executed, 2);
  assert.equal(steps[1].skill_missing, true);
  assert.match(steps[1].task, /no skill "missing-author"/);
});

Deno.test("briefingOf() names missing and unknown inputs, and shortens values", () => {
  const { inputs } = brief(["a-author"], 500, {
    other: "x".repeat(10_000),
    "𝄞": "𝄞".repeat(1_000),
  });
  assert.deepEqual(inputs.missing, ["brief"]);
  assert.deepEqual(inputs.unknown, ["other", "𝄞"]);
  assert.ok(inputs.given.other.length < 500);
  assert.ok(inputs.given["𝄞"].isWellFormed());
});

Deno.test("fairShare() leaves what short texts do not need to the long ones", () => {
  assert.equal(fairShare([10, 10, 10], 100), Number.MAX_SAFE_INTEGER);
  assert.equal(fairShare([10, 100, 100], 110), 50);
  assert.equal(fairShare([100, 100], 100), 50);
  assert.equal(fairShare([100], -5), 0);
});
