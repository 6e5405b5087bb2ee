/**
 * A workflow as a briefing for the host's model: every step with its inputs,
 * hand-off keys and instructions, within what a host takes as one answer.
 */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import { NO_MODEL_NOTE, trimmed } from "../skills/brief.ts";
import type { SkillText } from "../skills/library.ts";
import type { CatalogueWorkflow } from "./catalogue.ts";
import type { Plan, PlannedStep } from "./plan.ts";

/** What a briefing is made from. */
export interface BriefingOptions {
  readonly persona: string;
  readonly workflow: CatalogueWorkflow;
  readonly plan: Plan;
  /** The skill of each step; absent where the catalogue has none. */
  readonly skills: ReadonlyMap<string, SkillText>;
  readonly inputs: JsonObject;
}

/**
 * Hosts take about 25,000 tokens as one answer, and an answer travels twice: as
 * text and as structured content.
 */
export const MAX_BRIEFING_CHARS = 44_000;
const MAX_VALUE_CHARS = 400;
const MAX_VALUES_CHARS = 4_000;
const MAX_NAMES = 50;
const MIN_INSTRUCTION_CHARS = 300;

/** The output of `execute_workflow` without a model of its own. */
export function briefingOf(options: BriefingOptions): JsonObject {
  const { plan } = options;
  const frame = withSteps(
    options,
    plan.steps.map((step) => describe(step, options)),
  );
  const room = MAX_BRIEFING_CHARS - JSON.stringify(frame).length;
  return withSteps(options, addInstructions(options, room));
}

function withSteps(
  { persona, workflow, plan, inputs }: BriefingOptions,
  steps: readonly JsonObject[],
): JsonObject {
  return {
    steps_executed: steps.length,
    final_artifacts: plan.artifacts.map(({ name, fromStep }) => ({
      name,
      from_step: fromStep,
      state: "to be made by the host's model",
    })),
    mode: "brief",
    note: steps.length === 0
      ? "This workflow has no steps in the catalogue, so there is nothing to do."
      : `${NO_MODEL_NOTE} Embedded mode walked the chain, recorded each step in the audit memory and prepared what you need: carry the steps out in order, keep each result under its hand-off key, and give the final artifacts to the person.`,
    persona,
    workflow: workflow.slug,
    title: workflow.title,
    inputs: describeInputs(workflow, inputs),
    steps,
  };
}

function describe(
  step: PlannedStep,
  { skills }: BriefingOptions,
): JsonObject {
  const skill = skills.get(step.skillId);
  return {
    step: step.step,
    skill_id: step.skillId,
    ...(skill?.title === undefined ? {} : { title: skill.title }),
    task: taskOf(step, skill),
    uses: step.uses,
    hand_off: step.makes,
    ...(skill === undefined ? { skill_missing: true } : {}),
  };
}

function taskOf(step: PlannedStep, skill: SkillText | undefined): string {
  if (skill === undefined) {
    return `The catalogue has no skill "${step.skillId}": do what its name says, and tell the person that its instructions are missing.`;
  }
  if (step.checks === undefined) return skill.description;
  return `${skill.description} On "revise" go back to step ${step.checks}, twice at most; on "block" stop and ask the person.`;
}

/** Each text once: later steps of the same skill point to the first. */
function addInstructions(
  options: BriefingOptions,
  room: number,
): readonly JsonObject[] {
  const { plan, skills } = options;
  const first = new Map<string, number>();
  for (const { skillId, step } of plan.steps) {
    if (skills.has(skillId) && !first.has(skillId)) first.set(skillId, step);
  }
  const lengths = [...first.keys()]
    .map((skillId) => JSON.stringify(skills.get(skillId)!.instructions).length);
  const limit = fairShare(lengths, room - 140 * plan.steps.length);
  return plan.steps.map((step) => ({
    ...describe(step, options),
    ...instructionsFor(step, first.get(step.skillId), skills, limit),
  }));
}

function instructionsFor(
  step: PlannedStep,
  firstStep: number | undefined,
  skills: ReadonlyMap<string, SkillText>,
  limit: number,
): JsonObject {
  const skill = skills.get(step.skillId);
  if (skill === undefined || firstStep === undefined) return {};
  if (firstStep !== step.step) return { instructions_as_in_step: firstStep };
  const whole = skill.instructions.trim();
  if (limit < MIN_INSTRUCTION_CHARS && whole.length > limit) {
    return { instructions_from: "cyberos.skill.invoke_skill" };
  }
  const text = trimmed(whole, limit);
  return {
    instructions: text,
    instructions_origin: skill.origin,
    // The host can have all of it, one skill at a time.
    ...(text.length === whole.length
      ? {}
      : { instructions_from: "cyberos.skill.invoke_skill" }),
  };
}

/** The largest length to cut texts at so that all of them fit; short ones leave their rest to the others. */
export function fairShare(lengths: readonly number[], room: number): number {
  const sorted = [...lengths].sort((a, b) => a - b);
  let left = Math.max(0, room);
  for (const [index, length] of sorted.entries()) {
    const share = left / (sorted.length - index);
    if (length > share) return Math.floor(share);
    left -= length;
  }
  return Number.MAX_SAFE_INTEGER;
}

function describeInputs(
  workflow: CatalogueWorkflow,
  inputs: JsonObject,
): JsonObject {
  const given = Object.keys(inputs);
  const missing = workflow.inputs.filter((name) => !(name in inputs));
  const unknown = given.filter((name) => !workflow.inputs.includes(name));
  return {
    expected: workflow.inputs,
    given: preview(inputs),
    ...(missing.length === 0 ? {} : {
      missing,
      missing_hint:
        "Ask the person for these or look them up; never invent them.",
    }),
    ...(unknown.length === 0 ? {} : {
      unknown: unknown.slice(0, MAX_NAMES).map((name) => name.slice(0, 128)),
      unknown_hint:
        "The workflow has no inputs of these names; use them as context.",
    }),
  };
}

/** The values, shortened: a host that comes back for the result later may not have them at hand. */
function preview(inputs: JsonObject): JsonObject {
  const shown: Record<string, JsonValue> = {};
  let left = MAX_VALUES_CHARS;
  for (const [name, value] of Object.entries(inputs).slice(0, MAX_NAMES)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    const cut = (text ?? "").slice(0, Math.min(MAX_VALUE_CHARS, left))
      .toWellFormed();
    left -= cut.length;
    shown[name.slice(0, 128)] = cut.length < (text ?? "").length
      ? `${cut}…`
      : cut;
  }
  return shown;
}
