/** What each step of a chain takes and hands on, worked out from names alone. */
import type { Workflow } from "../../types.ts";

/** One step of a workflow. */
export interface PlannedStep {
  /** 1-based. */
  readonly step: number;
  readonly skillId: string;
  readonly kind: "author" | "audit" | "other";
  /** Names of inputs and of what earlier steps handed on. */
  readonly uses: readonly string[];
  /** Names under which the step hands its results on. */
  readonly makes: readonly string[];
  /** For an audit: the step whose result it checks. */
  readonly checks?: number;
}

/** A result of the whole workflow. */
export interface PlannedArtifact {
  readonly name: string;
  /** The step that makes it. */
  readonly fromStep: number;
}

/** A chain with its hand-offs. */
export interface Plan {
  readonly steps: readonly PlannedStep[];
  readonly artifacts: readonly PlannedArtifact[];
}

const MAX_USED_RESULTS = 6;

/** Plans the workflow's chain: authors make, audits check what the author before them made. */
export function planOf(workflow: Workflow): Plan {
  const outputs = assignOutputs(workflow);
  const steps: PlannedStep[] = [];
  const made: string[] = [];
  workflow.skillChain.forEach((skillId, index) => {
    const planned = planStep(skillId, {
      step: index + 1,
      inputs: workflow.inputs,
      outputs: outputs.get(index) ?? [],
      earlier: steps,
      made,
    });
    steps.push(planned);
    if (planned.kind !== "audit") made.push(...planned.makes);
  });
  return { steps, artifacts: artifactsOf(workflow, steps) };
}

interface Before {
  readonly step: number;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly earlier: readonly PlannedStep[];
  readonly made: readonly string[];
}

function planStep(skillId: string, before: Before): PlannedStep {
  const { step, inputs, outputs, earlier, made } = before;
  const kind = kindOf(skillId);
  const checked = kind === "audit"
    ? earlier.findLast((one) =>
      one.kind === "author" && subjectOf(one.skillId) === subjectOf(skillId)
    )
    : undefined;
  if (checked !== undefined) {
    return {
      step,
      skillId,
      kind,
      uses: [...checked.makes],
      makes: [`${checked.makes[0]}_verdict`],
      checks: checked.step,
    };
  }
  return {
    step,
    skillId,
    kind,
    uses: [...new Set([...inputs, ...made.slice(-MAX_USED_RESULTS)])],
    makes: outputs.length > 0 ? outputs : [keyOf(skillId)],
  };
}

function kindOf(skillId: string): PlannedStep["kind"] {
  if (skillId.endsWith("-author")) return "author";
  return skillId.endsWith("-audit") ? "audit" : "other";
}

function subjectOf(skillId: string): string {
  return skillId.replace(/-(author|audit)$/, "");
}

function keyOf(skillId: string): string {
  return subjectOf(skillId).replaceAll("-", "_");
}

/** Which step of the chain, by its index, makes which of the workflow's outputs. */
function assignOutputs(
  workflow: Workflow,
): ReadonlyMap<number, readonly string[]> {
  const { outputs, skillChain } = workflow;
  const makers = skillChain.flatMap((skillId, index) =>
    kindOf(skillId) === "audit" ? [] : [{ skillId, index }]
  );
  if (makers.length === outputs.length) {
    return new Map(
      makers.map(({ index }, place) => [index, [outputs[place]!]]),
    );
  }
  const assigned = new Map<number, string[]>();
  const last = makers.at(-1)?.index ?? skillChain.length - 1;
  for (const output of outputs) {
    const words = new Set(output.split("_"));
    const maker = makers.find(({ skillId, index }) =>
      !assigned.has(index) &&
      subjectOf(skillId).split("-").every((word) => words.has(word))
    );
    const index = maker?.index ?? last;
    assigned.set(index, [...assigned.get(index) ?? [], output]);
  }
  return assigned;
}

function artifactsOf(
  workflow: Workflow,
  steps: readonly PlannedStep[],
): readonly PlannedArtifact[] {
  return workflow.outputs.flatMap((name) => {
    const maker = steps.find(({ makes }) => makes.includes(name));
    return maker === undefined ? [] : [{ name, fromStep: maker.step }];
  });
}
