/** The eight tools of CyberOS, each wired to its upstream. */
import type { JsonObject } from "../../schema/json.ts";
import {
  type ToolDefinition,
  type ToolName,
  TOOLS,
} from "../../schema/tools.ts";
import type { Logger, TaskRunner, Telemetry, Upstreams } from "../ports.ts";
import { argumentValidator } from "./arguments.ts";
import { recordInvocation } from "./audit_trail.ts";
import { listPersonas, listWorkflows, route } from "./cuo_tools.ts";
import { appendAudit, readAudit } from "./memory_tools.ts";
import { listCatalog } from "./skill_tools.ts";
import { findEarlier, runAsTask } from "./task_tools.ts";
import {
  createToolSet,
  type Tool,
  type ToolAnswer,
  type ToolContext,
  type ToolSet,
} from "./tool_set.ts";

/** What the tools stand on; upstreams and tasks are made at the first call that needs them. */
export interface CyberosToolsDeps {
  readonly upstreams: () => Promise<Upstreams>;
  readonly tasks: () => Promise<TaskRunner>;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  readonly pluginId: string;
  readonly version: string;
  /** What the list of one answer may take as JSON. */
  readonly maxAnswerChars: number;
}

type Call = (
  deps: CyberosToolsDeps,
  args: JsonObject,
  context: ToolContext,
) => Promise<ToolAnswer>;

const CALLS: Readonly<Record<ToolName, Call>> = {
  "cyberos.cuo.list_personas": async ({ upstreams }, _args, context) =>
    listPersonas((await upstreams()).cuo, context),
  "cyberos.cuo.list_workflows": async ({ upstreams }, args, context) =>
    listWorkflows((await upstreams()).cuo, args, context),
  "cyberos.cuo.route": async ({ upstreams }, args, context) =>
    route((await upstreams()).cuo, args, context),
  "cyberos.cuo.execute_workflow": executeWorkflow,
  "cyberos.memory.read_audit": async (deps, args, context) =>
    readAudit((await deps.upstreams()).memory, args, {
      ...context,
      maxAnswerChars: deps.maxAnswerChars,
    }),
  "cyberos.memory.append_audit": async ({ upstreams }, args, context) =>
    appendAudit((await upstreams()).memory, args, context),
  "cyberos.skill.list_catalog": async (deps, args, context) =>
    listCatalog((await deps.upstreams()).skills, args, {
      ...context,
      maxAnswerChars: deps.maxAnswerChars,
    }),
  "cyberos.skill.invoke_skill": invokeSkill,
};

const QUESTIONS: Partial<Record<ToolName, (args: JsonObject) => string>> = {
  "cyberos.memory.append_audit": (args) =>
    `Append this row to the company's audit memory? It can never be changed or deleted. Kind "${
      args["kind"]
    }": ${preview(args["body"])}`,
  "cyberos.skill.invoke_skill": (args) =>
    `Run the skill ${
      preview(args["skill_id"])
    }? It may reach systems outside CyberOS. Inputs: ${
      preview(args["inputs"])
    }`,
};

const MAX_PREVIEW_CHARS = 1000;

/** Makes the set of the eight tools. Nothing is loaded or connected before a call. */
export function cyberosTools(deps: CyberosToolsDeps): ToolSet {
  return createToolSet(TOOLS.map((definition) => mount(definition, deps)));
}

function mount(definition: ToolDefinition, deps: CyberosToolsDeps): Tool {
  const { name, annotations } = definition;
  const question = QUESTIONS[name];
  return {
    name,
    listing: toListing(definition),
    scopes: definition.scopes,
    needsConfirmation: annotations.destructive || annotations.external_effect,
    longRunning: definition.longRunning,
    validate: argumentValidator(definition.inputSchema),
    ...(question === undefined ? {} : { question }),
    ...(definition.longRunning
      ? {
        earlier: (args, principal) =>
          findEarlier(deps.tasks, name, { arguments: args, principal }),
      }
      : {}),
    call: (args, context) => CALLS[name](deps, args, context),
  };
}

/**
 * An entry of `tools/list`: annotations in the specification's words and in
 * MCP's, `execution` only where Tasks are offered.
 *
 * Source: MCP 2025-11-25, server/tools, "Tool"; TASK-PLUGIN-002 §3.
 */
export function toListing(tool: ToolDefinition): JsonObject {
  const { destructive, write, external_effect } = tool.annotations;
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: {
      title: tool.title,
      readOnlyHint: !write && !destructive && !external_effect,
      destructiveHint: destructive,
      idempotentHint: tool.idempotent,
      openWorldHint: external_effect,
      destructive,
      write,
      external_effect,
    },
    ...(tool.longRunning ? { execution: { taskSupport: "optional" } } : {}),
  };
}

async function executeWorkflow(
  deps: CyberosToolsDeps,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolAnswer> {
  const tool = "cyberos.cuo.execute_workflow";
  const { principal, span } = context;
  const memory = async () => (await deps.upstreams()).memory;
  return runAsTask(await deps.tasks(), {
    tool,
    arguments: args,
    work: async (input, run) =>
      (await deps.upstreams()).cuo.executeWorkflow({
        persona: input["persona"] as string,
        workflow: input["workflow"] as string,
        inputs: input["inputs"] as JsonObject,
      }, run),
    onEnd: (task) =>
      recordInvocation({ ...deps, memory }, {
        principal,
        tool,
        task,
        parent: span,
      }),
  }, context);
}

async function invokeSkill(
  deps: CyberosToolsDeps,
  args: JsonObject,
  context: ToolContext,
): Promise<ToolAnswer> {
  return runAsTask(await deps.tasks(), {
    tool: "cyberos.skill.invoke_skill",
    arguments: args,
    work: async (input, run) =>
      (await deps.upstreams()).skills.invoke({
        skillId: input["skill_id"] as string,
        inputs: input["inputs"] as JsonObject,
      }, run),
  }, context);
}

/**
 * The value as JSON, so that its quotes and line breaks are none of the
 * question's; what turns or hides text is written out.
 */
function preview(value: unknown): string {
  const text = JSON.stringify(value).replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
  );
  return text.length <= MAX_PREVIEW_CHARS
    ? text
    : `${text.slice(0, MAX_PREVIEW_CHARS)}… (${text.length} characters)`;
}
