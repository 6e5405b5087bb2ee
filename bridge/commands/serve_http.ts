/** Serves MCP over HTTP. */
import type { LaunchMessage } from "../sandbox/launch_message.ts";

/** Placeholder while the transport is being written. */
export function serveHttpCommand(
  _message: LaunchMessage,
  _signal: AbortSignal,
): Promise<number> {
  return Promise.resolve(1);
}
