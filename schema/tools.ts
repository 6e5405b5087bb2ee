/**
 * The eight tools of CyberOS: the one table that the bridge serves and that the
 * shipped manifest is checked against.
 *
 * Source: TASK-PLUGIN-002 §1 clause 3.
 */
import type { JsonObject } from "./json.ts";
import type { Scope } from "./scopes.ts";
import type { Sep986 } from "./tool_name.ts";

/** What a call of the tool may do, in the words of the manifest. */
export interface ToolAnnotations {
  /** Changes or adds something that cannot be taken back. */
  readonly destructive: boolean;
  /** Changes state of CyberOS. */
  readonly write: boolean;
  /** May reach systems outside CyberOS. */
  readonly external_effect: boolean;
}

/**
 * The name of one of the eight tools. A name off the SEP-986 pattern drops out
 * of this union, so that its row in the table below does not compile.
 */
export type ToolName = Sep986<
  | "cyberos.cuo.list_personas"
  | "cyberos.cuo.list_workflows"
  | "cyberos.cuo.route"
  | "cyberos.cuo.execute_workflow"
  | "cyberos.memory.read_audit"
  | "cyberos.memory.append_audit"
  | "cyberos.skill.list_catalog"
  | "cyberos.skill.invoke_skill"
>;

/** One row of the table. */
export interface ToolDefinition {
  /** SEP-986. */
  readonly name: ToolName;
  /** A short name for people. */
  readonly title: string;
  /** What a model reads when it chooses a tool; at least 30 characters. */
  readonly description: string;
  /** Every scope that a caller needs. */
  readonly scopes: readonly Scope[];
  /** What a call may do. */
  readonly annotations: ToolAnnotations;
  /** Repeating a call with the same arguments changes nothing more. */
  readonly idempotent: boolean;
  /** Runs as a Task that outlives the call. */
  readonly longRunning: boolean;
  /** JSON Schema 2020-12 of the arguments, in the plain form that every host takes. */
  readonly inputSchema: JsonObject;
  /** JSON Schema 2020-12 of `structuredContent`. */
  readonly outputSchema: JsonObject;
}

const READ_ONLY: ToolAnnotations = {
  destructive: false,
  write: false,
  external_effect: false,
};

const TEXT = { type: "string" } as const;
const TEXTS = { type: "array", items: TEXT } as const;

const TASK_ARGUMENTS = {
  wait_seconds: {
    type: "integer",
    minimum: 0,
    maximum: 50,
    default: 0,
    description:
      "How long to wait for the result before answering with the running task. Use 30 to 50 in a host without Tasks.",
  },
  timeout_seconds: {
    type: "integer",
    minimum: 1,
    maximum: 3600,
    default: 600,
    description:
      "How long the run may take before it is stopped and marked failed.",
  },
  idempotency_key: {
    type: "string",
    minLength: 1,
    maxLength: 128,
    description:
      "Any text of yours. Repeating the call with the same key returns the same task's present state instead of starting another: start, then repeat to poll and to collect the result.",
  },
} as const;

const TASK_OUTPUT = {
  type: "object",
  properties: {
    task_id: TEXT,
    status: {
      type: "string",
      enum: ["running", "completed", "failed", "cancelled"],
    },
    output: {
      type: "object",
      description: "The result, once status is completed.",
    },
    error: {
      type: "object",
      description: "What went wrong, once status is failed.",
    },
    progress: {
      type: "object",
      properties: {
        step: { type: "integer" },
        total: { type: "integer" },
        message: TEXT,
      },
    },
    duration_ms: { type: "integer" },
    hint: TEXT,
  },
  required: ["task_id", "status"],
} as const;

const TABLE: Readonly<Record<ToolName, Omit<ToolDefinition, "name">>> = {
  "cyberos.cuo.list_personas": {
    title: "List CyberOS personas",
    description:
      "List the 47 active CyberOS personas (CTO, CFO, CPO, …) with title, what each one owns and how many workflows it has. Use it to find the persona slug for list_workflows and execute_workflow.",
    scopes: ["cyberos:cuo:list"],
    annotations: READ_ONLY,
    idempotent: true,
    longRunning: false,
    inputSchema: {
      type: "object",
      properties: {},
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        personas: {
          type: "array",
          items: {
            type: "object",
            properties: {
              slug: TEXT,
              title: TEXT,
              description: TEXT,
              status: TEXT,
              workflow_count: { type: "integer", minimum: 0 },
            },
            required: ["slug", "title", "status", "workflow_count"],
          },
        },
      },
      required: ["personas"],
    },
  },
  "cyberos.cuo.list_workflows": {
    title: "List a persona's workflows",
    description:
      "List the workflows of one persona with cadence, the inputs each one takes, the outputs it makes and the chain of skills it runs. Use it before execute_workflow to learn which inputs to give.",
    scopes: ["cyberos:cuo:list"],
    annotations: READ_ONLY,
    idempotent: true,
    longRunning: false,
    inputSchema: {
      type: "object",
      properties: {
        persona: {
          type: "string",
          minLength: 1,
          maxLength: 128,
          description: "Persona slug, such as chief-technology-officer.",
        },
      },
      required: ["persona"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        persona: TEXT,
        workflows: {
          type: "array",
          items: {
            type: "object",
            properties: {
              slug: TEXT,
              title: TEXT,
              description: TEXT,
              cadence: TEXT,
              inputs: TEXTS,
              outputs: TEXTS,
              skill_chain: TEXTS,
            },
            required: ["slug", "cadence", "inputs", "outputs", "skill_chain"],
          },
        },
      },
      required: ["persona", "workflows"],
    },
  },
  "cyberos.cuo.route": {
    title: "Find the workflow for a request",
    description:
      "Find the persona and workflow that fit a request in natural language, with a confidence from 0 to 1 and alternates. Use it first when the user says what they want but not which workflow; it runs nothing.",
    scopes: ["cyberos:cuo:route"],
    annotations: READ_ONLY,
    idempotent: true,
    longRunning: false,
    inputSchema: {
      type: "object",
      properties: {
        query: {
          type: "string",
          minLength: 1,
          maxLength: 4000,
          description: "What the user wants, in their own words.",
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        persona: TEXT,
        workflow: TEXT,
        confidence: { type: "number", minimum: 0, maximum: 1 },
        alternates: {
          type: "array",
          items: TEXT,
          description: "Other candidates as persona/workflow, best first.",
        },
        matched: { type: "boolean", description: "False when nothing fits." },
        rationale: TEXT,
        hint: TEXT,
      },
      required: ["confidence", "alternates", "matched"],
    },
  },
  "cyberos.cuo.execute_workflow": {
    title: "Run a CyberOS workflow",
    description:
      "Run a persona's workflow: every skill of its chain in order, recorded in the audit memory. Answers at once with a task id unless wait_seconds lets it wait for the result. In a host without Tasks give an idempotency_key and repeat the call with the same key to poll and to collect the result.",
    scopes: ["cyberos:cuo:execute", "cyberos:memory:write"],
    annotations: { destructive: false, write: true, external_effect: false },
    idempotent: false,
    longRunning: true,
    inputSchema: {
      type: "object",
      properties: {
        persona: {
          type: "string",
          minLength: 1,
          maxLength: 128,
          description: "Persona slug, such as chief-technology-officer.",
        },
        workflow: {
          type: "string",
          minLength: 1,
          maxLength: 128,
          description:
            "Workflow slug of that persona, such as architect-new-system.",
        },
        inputs: {
          type: "object",
          additionalProperties: true,
          description:
            "The workflow's inputs by name, as list_workflows shows them. Use {} if you have none.",
        },
        ...TASK_ARGUMENTS,
      },
      required: ["persona", "workflow", "inputs"],
      additionalProperties: false,
    },
    outputSchema: TASK_OUTPUT,
  },
  "cyberos.memory.read_audit": {
    title: "Read the audit memory",
    description:
      "Read rows of the company's append-only audit memory, oldest first, by actor, kind and sequence number. Use next_seq as since_seq to read on.",
    scopes: ["cyberos:memory:read"],
    annotations: READ_ONLY,
    idempotent: true,
    longRunning: false,
    inputSchema: {
      type: "object",
      properties: {
        actor: {
          type: "string",
          minLength: 1,
          maxLength: 256,
          description: "Only rows of this actor id.",
        },
        kind: {
          type: "string",
          minLength: 1,
          maxLength: 128,
          description:
            "Only rows of this kind, such as plugin.invoked or decision.",
        },
        since_seq: {
          type: "integer",
          minimum: 0,
          maximum: 9007199254740991,
          description: "Only rows after this sequence number.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 500,
          default: 50,
          description: "At most this many rows.",
        },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        rows: { type: "array", items: { type: "object" } },
        next_seq: { type: ["integer", "null"] },
      },
      required: ["rows"],
    },
  },
  "cyberos.memory.append_audit": {
    title: "Append to the audit memory",
    description:
      "Append one row to the company's audit memory. It can never be changed or deleted, so the host must ask the person first. Use it for decisions and facts that the company must keep, never for drafts or secrets.",
    scopes: ["cyberos:memory:write"],
    annotations: { destructive: true, write: true, external_effect: false },
    idempotent: false,
    longRunning: false,
    inputSchema: {
      type: "object",
      properties: {
        kind: {
          type: "string",
          minLength: 1,
          maxLength: 128,
          pattern: "^[a-z][a-z0-9_.-]*$",
          description:
            "What kind of row this is, such as decision or risk.accepted.",
        },
        body: {
          type: "object",
          additionalProperties: true,
          description:
            "The row itself: any JSON object. No secrets, no personal data.",
        },
      },
      required: ["kind", "body"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        seq: { type: "integer" },
        recorded_at: TEXT,
      },
      required: ["seq"],
    },
  },
  "cyberos.skill.list_catalog": {
    title: "List CyberOS skills",
    description:
      "List the skills of the CyberOS catalogue with id and description, by default the first 100. Give filter to search in ids and descriptions, and offset to read on.",
    scopes: ["cyberos:skill:list"],
    annotations: READ_ONLY,
    idempotent: true,
    longRunning: false,
    inputSchema: {
      type: "object",
      properties: {
        filter: {
          type: "string",
          minLength: 1,
          maxLength: 256,
          description:
            "Only skills whose id or description has all of these words.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: 500,
          default: 100,
          description: "At most this many skills.",
        },
        offset: {
          type: "integer",
          minimum: 0,
          maximum: 100000,
          default: 0,
          description: "Skip this many skills.",
        },
      },
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        skills: {
          type: "array",
          items: {
            type: "object",
            properties: { skill_id: TEXT, title: TEXT, description: TEXT },
            required: ["skill_id", "description"],
          },
        },
        total: { type: "integer" },
        next_offset: { type: "integer" },
        problems: {
          type: "array",
          description: "Skills that could not be read, and why.",
          items: {
            type: "object",
            properties: { skill_id: TEXT, reason: TEXT },
            required: ["skill_id", "reason"],
          },
        },
      },
      required: ["skills", "total"],
    },
  },
  "cyberos.skill.invoke_skill": {
    title: "Run a CyberOS skill",
    description:
      "Run one skill of the catalogue by id with the inputs it needs. It may reach systems outside CyberOS, so the host must ask the person first. Answers at once with a task id unless wait_seconds lets it wait; repeat the call with the same idempotency_key to poll and to collect the result.",
    scopes: ["cyberos:skill:invoke"],
    annotations: { destructive: false, write: true, external_effect: true },
    idempotent: false,
    longRunning: true,
    inputSchema: {
      type: "object",
      properties: {
        skill_id: {
          type: "string",
          minLength: 1,
          maxLength: 128,
          description: "Skill id, such as architecture-decision-record-author.",
        },
        inputs: {
          type: "object",
          additionalProperties: true,
          description: "The skill's inputs by name. Use {} if it needs none.",
        },
        ...TASK_ARGUMENTS,
      },
      required: ["skill_id", "inputs"],
      additionalProperties: false,
    },
    outputSchema: TASK_OUTPUT,
  },
};

/** The table, in the fixed order of `tools/list`. */
export const TOOLS: readonly ToolDefinition[] =
  (Object.keys(TABLE) as ToolName[])
    .map((name) => ({ name, ...TABLE[name] }));

const BY_NAME: ReadonlyMap<string, ToolDefinition> = new Map(
  TOOLS.map((tool) => [tool.name, tool]),
);

/** The row of exactly this name, or `undefined`. */
export function findTool(name: string): ToolDefinition | undefined {
  return BY_NAME.get(name);
}

/** Every scope that the tools need, each once, in the order of the table. */
export const ALL_SCOPES: readonly Scope[] = [
  ...new Set(TOOLS.flatMap((tool) => tool.scopes)),
];
