/** CUO's JSON results, read into the typed shape of the port. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import type { Persona, Progress, Route, Workflow } from "../../types.ts";
import {
  asArray,
  asCount,
  asFraction,
  asName,
  asObject,
  asOptionalText,
  asText,
  asTexts,
  checkDepth,
  ShapeError,
} from "../common/shape.ts";

const MAX_PERSONAS = 1_000;
const MAX_WORKFLOWS = 1_000;
const MAX_STEPS = 10_000;
const MAX_ALTERNATES = 50;

/** `{personas:[{slug,title,status,workflow_count}]}`. @throws {ShapeError} */
export function readPersonas(result: JsonValue): readonly Persona[] {
  const list = asArray(
    asObject(result, "result")["personas"],
    "personas",
    MAX_PERSONAS,
  );
  return distinct(
    list.map((item, index) => readPersona(item, `personas/${index}`)),
    "personas",
  );
}

function readPersona(item: JsonValue, place: string): Persona {
  const object = asObject(item, place);
  return {
    slug: asName(object["slug"], `${place}/slug`),
    title: asText(object["title"], `${place}/title`, 256),
    ...optional("description", object, place),
    status: asText(object["status"], `${place}/status`, 64),
    workflowCount: asCount(
      object["workflow_count"],
      `${place}/workflow_count`,
      MAX_WORKFLOWS,
    ),
  };
}

/** `{workflows:[{slug,cadence,inputs,outputs,skill_chain}]}`. @throws {ShapeError} */
export function readWorkflows(result: JsonValue): readonly Workflow[] {
  const list = asArray(
    asObject(result, "result")["workflows"],
    "workflows",
    MAX_WORKFLOWS,
  );
  return distinct(
    list.map((item, index) => readWorkflow(item, `workflows/${index}`)),
    "workflows",
  );
}

function readWorkflow(item: JsonValue, place: string): Workflow {
  const object = asObject(item, place);
  return {
    slug: asName(object["slug"], `${place}/slug`),
    ...optional("title", object, place),
    ...optional("description", object, place),
    cadence: asText(object["cadence"], `${place}/cadence`, 256),
    inputs: asTexts(object["inputs"], `${place}/inputs`),
    outputs: asTexts(object["outputs"], `${place}/outputs`),
    skillChain: asTexts(object["skill_chain"], `${place}/skill_chain`),
  };
}

/**
 * `{persona,workflow,confidence,alternates}`. Nothing fits where persona or
 * workflow is absent, null or empty. @throws {ShapeError}
 */
export function readRoute(result: JsonValue): Route {
  const object = asObject(result, "result");
  const alternates = asArray(
    object["alternates"] ?? [],
    "alternates",
    MAX_ALTERNATES,
  ).map((item, index) => readPair(item, `alternates/${index}`));
  const rationale = asOptionalText(object["rationale"], "rationale");
  const shared = {
    alternates,
    ...(rationale === undefined ? {} : { rationale }),
  };
  if (!object["persona"] || !object["workflow"]) {
    return { ...NO_MATCH, ...shared };
  }
  return {
    persona: asName(object["persona"], "persona"),
    workflow: asName(object["workflow"], "workflow"),
    confidence: asFraction(object["confidence"], "confidence"),
    ...shared,
  };
}

/** The route where nothing fits. */
export const NO_MATCH: Route = {
  confidence: 0,
  alternates: [],
  hint:
    "No workflow fits this request. Say what you want to make or decide in other words, or choose with cyberos.cuo.list_personas and cyberos.cuo.list_workflows.",
};

function readPair(item: JsonValue, place: string): string {
  const text = asText(item, place, 256);
  const [persona, workflow, more] = text.split("/");
  asName(persona, place);
  asName(workflow, place);
  if (more !== undefined) throw new ShapeError(place, "persona/workflow");
  return text;
}

/** `{steps_executed,final_artifacts}` with whatever else CUO tells. @throws {ShapeError} */
export function readRun(result: JsonValue): JsonObject {
  const object = asObject(result, "result");
  checkDepth(object, "result");
  return {
    ...object,
    steps_executed: asCount(
      object["steps_executed"],
      "steps_executed",
      MAX_STEPS,
    ),
    final_artifacts: asArray(
      object["final_artifacts"],
      "final_artifacts",
      MAX_STEPS,
    ),
  };
}

/** `{step,total,skill}` of a progress notification; `undefined` where it makes no sense. */
export function readProgress(params: JsonObject): Progress | undefined {
  try {
    const step = asCount(params["step"], "step", MAX_STEPS);
    const total = params["total"] === undefined || params["total"] === null
      ? undefined
      : asCount(params["total"], "total", MAX_STEPS);
    const skill = asOptionalText(params["skill"], "skill", 256);
    return {
      step,
      ...(total === undefined ? {} : { total }),
      ...(skill === undefined ? {} : { message: skill }),
    };
  } catch {
    return undefined;
  }
}

function optional<Key extends string>(
  key: Key,
  object: JsonObject,
  place: string,
): { readonly [K in Key]?: string } {
  const value = asOptionalText(object[key], `${place}/${key}`);
  return (value === undefined ? {} : { [key]: value }) as {
    readonly [K in Key]?: string;
  };
}

function distinct<T extends { readonly slug: string }>(
  items: readonly T[],
  place: string,
): readonly T[] {
  if (new Set(items.map((item) => item.slug)).size !== items.length) {
    throw new ShapeError(place, "a list of distinct names");
  }
  return items;
}
