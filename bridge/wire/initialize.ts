/** The handshake: one revision of MCP, spoken to clients of several. */
import type { JsonObject } from "../../schema/json.ts";
import { BridgeError } from "../errors.ts";
import { isObject } from "./json_rpc.ts";

/** The revision that this server speaks. */
export const PROTOCOL_VERSION = "2025-11-25";

// Revisions that MCP has published. A client of one of these may go on with ours, or leave.
const PUBLISHED: readonly string[] = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  PROTOCOL_VERSION,
  "2026-07-28",
];

const INSTRUCTIONS =
  "CyberOS runs a company's personas and their workflows. When the user says what they want but not which workflow, call cyberos.cuo.route first, then cyberos.cuo.list_workflows for the inputs, then cyberos.cuo.execute_workflow. Runs take minutes: give wait_seconds (30 to 50) and an idempotency_key, and repeat the same call to poll and to collect the result. Ask the person before cyberos.memory.append_audit and cyberos.skill.invoke_skill.";

/** What the server says of itself. */
export interface ServerIdentity {
  readonly version: string;
  /** Refuse published revisions other than ours too, instead of letting the client decide. */
  readonly protocolStrict: boolean;
  /** For a server that offers other tools than ours. */
  readonly instructions?: string;
}

/**
 * Answers `initialize`.
 *
 * Source: MCP 2025-11-25, basic/lifecycle, "Version Negotiation"; PRODUCT
 * decision D1; TASK-PLUGIN-002 §1 clauses 2 and 14.
 *
 * @throws {BridgeError} `PROTOCOL_VERSION` with `data.supported`.
 */
export function initialize(
  params: JsonObject,
  server: ServerIdentity,
): JsonObject {
  const asked = params["protocolVersion"];
  const accepted = server.protocolStrict
    ? asked === PROTOCOL_VERSION
    : typeof asked === "string" && PUBLISHED.includes(asked);
  if (!accepted) {
    throw new BridgeError("PROTOCOL_VERSION", "Unsupported protocol version", {
      hint:
        `Use MCP revision ${PROTOCOL_VERSION}: upgrade the host, or ask it to offer that revision.`,
      data: { supported: [PROTOCOL_VERSION] },
    });
  }
  return {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: {
      tools: { listChanged: false },
      logging: {},
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    },
    serverInfo: {
      name: "cyberos-mcp-bridge",
      title: "CyberOS",
      version: server.version,
    },
    instructions: server.instructions ?? INSTRUCTIONS,
  };
}

/** The capabilities that a client declared; nothing where it declared them wrong. */
export function clientCapabilities(params: JsonObject): JsonObject {
  const capabilities = params["capabilities"];
  return isObject(capabilities) ? capabilities : {};
}

/** Whether the client can show a form to its user. An empty declaration means form mode. */
export function canElicit(capabilities: JsonObject): boolean {
  const elicitation = capabilities["elicitation"];
  return isObject(elicitation) &&
    (isObject(elicitation["form"]) || !isObject(elicitation["url"]));
}
