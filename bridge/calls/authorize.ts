/** Scope policy, driven by the table of tools. */
import { BridgeError } from "../errors.ts";
import type { Principal } from "../types.ts";
import type { Tool } from "./tool_set.ts";

/**
 * Refuses a caller whose token lacks a scope of the tool.
 *
 * `data.required_scopes` names every scope that the call needs, for the
 * challenge of a transport that has one: a client that replaces its scopes with
 * the challenge's must not lose those it had.
 *
 * Source: TASK-PLUGIN-002 §3 "Error envelope"; MCP 2025-11-25, authorization,
 * "Scope Challenge Handling".
 *
 * @throws {BridgeError} `SCOPE_MISSING` with `data.missing_scopes`.
 */
export function authorize(tool: Tool, principal: Principal): void {
  const missing = tool.scopes.filter((scope) => !principal.scopes.has(scope));
  if (missing.length === 0) return;
  const names = missing.map((scope) => `'${scope}'`).join(" and ");
  throw new BridgeError(
    "SCOPE_MISSING",
    `Tool '${tool.name}' requires scope ${names} which is not in your token`,
    {
      hint:
        `Re-authorise the plugin with the ${names} scope, or have an admin grant it.`,
      data: { missing_scopes: missing, required_scopes: [...tool.scopes] },
    },
  );
}
