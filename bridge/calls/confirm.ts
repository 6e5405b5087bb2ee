/** Whether a person agreed to a destructive or outward call. */
import type { JsonObject } from "../../schema/json.ts";
import type { ToolName } from "../../schema/tools.ts";
import { BridgeError } from "../errors.ts";
import type { Confirmations } from "../ports.ts";
import type { Principal, TaskView } from "../types.ts";
import type { Tool } from "./tool_set.ts";

/** What a person did with our question. */
export type ElicitAction = "accept" | "decline" | "cancel";

/** What speaks for a confirmation. */
export interface Evidence {
  /** The host's own word, `_meta["mcp/sampling/elicit_confirm"] === true`. */
  readonly hostConfirmed: boolean;
  /** `_meta["cyberos/confirmation_token"]`. */
  readonly token?: string;
  readonly confirmations?: () => Promise<Confirmations>;
  /** Asks the person through the client, where it can. */
  readonly ask?: (question: string) => Promise<ElicitAction>;
}

/** A call that may run. */
export interface Confirmed {
  /** The task that an earlier, confirmed call started: this one only asks how it goes. */
  readonly earlier?: TaskView;
  /** The same for every replay of one confirmation token. */
  readonly replayKey?: string;
}

/**
 * Confirms a call in one of the three ways of PRODUCT decision D5, or refuses.
 * A tool argument never confirms: the model writes those.
 *
 * @throws {BridgeError} `CONFIRMATION_REQUIRED`; nothing has been touched then.
 */
export async function confirm(
  tool: Tool,
  call: { readonly principal: Principal; readonly arguments: JsonObject },
  evidence: Evidence,
): Promise<Confirmed> {
  if (!tool.needsConfirmation || evidence.hostConfirmed) return {};
  const earlier = await tool.earlier?.(call.arguments, call.principal);
  if (earlier !== undefined) return { earlier };
  const { token } = evidence;
  if (token !== undefined) {
    return await confirmByToken(tool, call, { ...evidence, token });
  }
  if (evidence.ask !== undefined) {
    return await confirmByPerson(tool, call.arguments, evidence.ask);
  }
  throw new BridgeError(
    "CONFIRMATION_REQUIRED",
    `Tool '${tool.name}' needs the person's confirmation`,
  );
}

async function confirmByToken(
  tool: Tool,
  call: { readonly principal: Principal; readonly arguments: JsonObject },
  evidence: Evidence & { readonly token: string },
): Promise<Confirmed> {
  const confirmations = await evidence.confirmations?.();
  const confirmed = await confirmations?.verify(evidence.token, {
    principal: call.principal,
    tool: tool.name as ToolName,
    arguments: call.arguments,
  });
  if (confirmed === true) return { replayKey: await digest(evidence.token) };
  throw new BridgeError(
    "CONFIRMATION_REQUIRED",
    "The confirmation token does not confirm this call",
    {
      hint:
        "Ask for a new confirmation: a token holds for one tool, caller and set of arguments, and for five minutes.",
    },
  );
}

async function confirmByPerson(
  tool: Tool,
  args: JsonObject,
  ask: (question: string) => Promise<ElicitAction>,
): Promise<Confirmed> {
  const question = tool.question?.(args) ?? `Allow '${tool.name}' to run?`;
  const action = await ask(question);
  if (action === "accept") return {};
  throw new BridgeError(
    "CONFIRMATION_REQUIRED",
    action === "decline"
      ? "The person declined this call"
      : "The person did not confirm this call",
    { hint: "Do not repeat the call unless the person asks for it." },
  );
}

/** Of what was signed: one signature can be written in several ways, and made more than once. */
async function digest(token: string): Promise<string> {
  const signed = token.slice(0, token.lastIndexOf("."));
  const bytes = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(signed),
  );
  return `confirmation-${new Uint8Array(bytes).toHex()}`;
}
