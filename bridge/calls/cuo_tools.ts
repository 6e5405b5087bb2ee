/** The three short tools over CUO. */
import type { JsonObject } from "../../schema/json.ts";
import type { Cuo } from "../ports.ts";
import type { Persona, Route, Workflow } from "../types.ts";
import type { ToolAnswer, ToolContext } from "./tool_set.ts";

/** `cyberos.cuo.list_personas`. */
export async function listPersonas(
  cuo: Cuo,
  context: ToolContext,
): Promise<ToolAnswer> {
  const personas = await cuo.listPersonas(context);
  return { kind: "result", structured: { personas: personas.map(toPersona) } };
}

/** `cyberos.cuo.list_workflows`. */
export async function listWorkflows(
  cuo: Cuo,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolAnswer> {
  const persona = args["persona"] as string;
  const workflows = await cuo.listWorkflows(persona, context);
  return {
    kind: "result",
    structured: { persona, workflows: workflows.map(toWorkflow) },
  };
}

/** `cyberos.cuo.route`. */
export async function route(
  cuo: Cuo,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolAnswer> {
  const found = await cuo.route(args["query"] as string, context);
  return { kind: "result", structured: toRoute(found) };
}

function toPersona(persona: Persona): JsonObject {
  return {
    slug: persona.slug,
    title: persona.title,
    ...(persona.description === undefined
      ? {}
      : { description: persona.description }),
    status: persona.status,
    workflow_count: Math.max(0, Math.trunc(persona.workflowCount)) || 0,
  };
}

function toWorkflow(workflow: Workflow): JsonObject {
  return {
    slug: workflow.slug,
    ...(workflow.title === undefined ? {} : { title: workflow.title }),
    ...(workflow.description === undefined
      ? {}
      : { description: workflow.description }),
    cadence: workflow.cadence,
    inputs: workflow.inputs,
    outputs: workflow.outputs,
    skill_chain: workflow.skillChain,
  };
}

function toRoute(route: Route): JsonObject {
  const { persona, workflow } = route;
  const matched = persona !== undefined && workflow !== undefined;
  return {
    ...(matched ? { persona, workflow } : {}),
    confidence: Math.min(1, Math.max(0, route.confidence)) || 0,
    alternates: route.alternates,
    matched,
    ...(route.rationale === undefined ? {} : { rationale: route.rationale }),
    ...(route.hint === undefined ? {} : { hint: route.hint }),
  };
}
