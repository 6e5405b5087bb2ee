/** One call of each tool, with its time and the heart of its answer. */
// @ts-types="@modelcontextprotocol/sdk/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

type Plain = Record<string, unknown>;

interface Stop {
  readonly tool: string;
  readonly arguments: Plain;
  /** The person's consent, which a host asks for before a destructive or outward call. */
  readonly confirmed?: boolean;
  /** One line of what came back. */
  show(result: Plain): string;
}

const PERSONA = "chief-technology-officer";
const REQUEST =
  "Architect a new payment routing system for Southeast Asian markets";

const STOPS: readonly Stop[] = [
  {
    tool: "cyberos.cuo.list_personas",
    arguments: {},
    show: ({ personas }) => {
      const all = personas as Plain[];
      const first = all.slice(0, 3).map((persona) => persona.title).join(", ");
      return `${all.length} personas: ${first}, …`;
    },
  },
  {
    tool: "cyberos.cuo.route",
    arguments: { query: REQUEST },
    show: ({ persona, workflow, confidence }) =>
      `"${REQUEST}" → ${persona}/${workflow}, confidence ${confidence}`,
  },
  {
    tool: "cyberos.cuo.list_workflows",
    arguments: { persona: PERSONA },
    show: ({ workflows }) =>
      `${(workflows as Plain[]).length} workflows of ${PERSONA}: ${
        (workflows as Plain[]).slice(0, 3).map((workflow) => workflow.slug)
          .join(", ")
      }, …`,
  },
  {
    tool: "cyberos.cuo.execute_workflow",
    arguments: {
      persona: PERSONA,
      workflow: "architect-new-system",
      inputs: {
        prd: "Route card payments across three acquirers",
        target_quarter: "2027-Q2",
      },
      wait_seconds: 30,
      idempotency_key: "start-tour",
    },
    show: ({ status, output }) =>
      `${status}: ${
        (output as Plain | undefined)?.steps_executed
      } steps walked`,
  },
  {
    tool: "cyberos.skill.list_catalog",
    arguments: { filter: "threat model" },
    show: ({ skills, total }) =>
      `${total} skills match "threat model": ${
        (skills as Plain[]).map((skill) => skill.skill_id).join(", ")
      }`,
  },
  {
    tool: "cyberos.skill.invoke_skill",
    arguments: {
      skill_id: "threat-model-author",
      inputs: { system: "payment router" },
      wait_seconds: 30,
    },
    confirmed: true,
    show: ({ status }) => `${status}: a brief for the host's model`,
  },
  {
    tool: "cyberos.memory.append_audit",
    arguments: {
      kind: "decision",
      body: { title: "Three acquirers, one router" },
    },
    confirmed: true,
    show: ({ seq }) => `row ${seq}, chained to the row before it`,
  },
  {
    tool: "cyberos.memory.read_audit",
    arguments: { limit: 500 },
    show: ({ rows }) => {
      const kinds = new Set((rows as Plain[]).map((row) => row.kind));
      return `${(rows as Plain[]).length} rows: ${[...kinds].join(", ")}`;
    },
  },
];

/** Starts the bridge, makes the calls and says what happened. Gives the number of failed calls. */
export async function tour(say: (text: string) => void): Promise<number> {
  const began = performance.now();
  const transport = new StdioClientTransport({
    command: "deno",
    args: ["task", "--quiet", "bridge", "--embedded", "--ephemeral"],
    stderr: "inherit",
    env: { CYBEROS_LOG_LEVEL: "error" },
  });
  const client = new Client({ name: "cyberos-start", version: "1.0.0" });
  await client.connect(transport);
  const { version } = client.getServerVersion() ?? {};
  say(`   ${ms(began)} connected to cyberos-mcp-bridge ${version}`);
  let failed = 0;
  for (const stop of STOPS) failed += await visit(client, stop, say) ? 0 : 1;
  await client.close();
  return failed;
}

async function visit(
  client: Client,
  stop: Stop,
  say: (text: string) => void,
): Promise<boolean> {
  const began = performance.now();
  try {
    const result = await client.callTool({
      name: stop.tool,
      arguments: stop.arguments,
      ...(stop.confirmed
        ? { _meta: { "mcp/sampling/elicit_confirm": true } }
        : {}),
    });
    say(`   ${ms(began)} ${stop.tool}`);
    say(`             ${stop.show(result.structuredContent as Plain)}`);
    return result.isError !== true;
  } catch (error) {
    say(
      `   ${ms(began)} ${stop.tool} failed: ${
        error instanceof Error ? error.message : error
      }`,
    );
    return false;
  }
}

function ms(began: number): string {
  return `${(performance.now() - began).toFixed(0).padStart(5)} ms`;
}
