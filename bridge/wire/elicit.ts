/** Asking the person through the client. */
import type { ElicitAction } from "../calls/confirm.ts";
import type { Exchange } from "./exchange.ts";
import { startDeadline } from "./deadline.ts";
import { canElicit } from "./initialize.ts";
import { isObject } from "./json_rpc.ts";

/**
 * Makes the question that a client shows to its user as a form without fields,
 * where the client declared that it can. A client that fails to show it, or a
 * person who lets it lie, has not confirmed.
 *
 * Source: MCP 2025-11-25, client/elicitation.
 */
export function elicitConfirmation(
  exchange: Exchange,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): ((question: string) => Promise<ElicitAction>) | undefined {
  const { session } = exchange;
  if (session === undefined || !canElicit(session.clientCapabilities)) {
    return undefined;
  }
  return async (question) => {
    const deadline = startDeadline(options.signal, options.timeoutMs);
    try {
      const answer = await session.request("elicitation/create", {
        message: question,
        requestedSchema: { type: "object", properties: {} },
      }, deadline.signal);
      const action = isObject(answer) ? answer["action"] : undefined;
      return action === "accept" || action === "decline" ? action : "cancel";
    } catch (error) {
      if (options.signal.aborted) throw error;
      return "cancel";
    } finally {
      deadline.stop();
    }
  };
}
