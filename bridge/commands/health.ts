/** Asks the bridge that listens on this machine whether it lives: for container health checks. */
import { ownAddress } from "../sandbox/permissions.ts";
import type { LaunchMessage } from "../sandbox/launch_message.ts";
import { print } from "./own_flags.ts";

/** Below the three seconds after which container engines lose patience. */
const DEADLINE_MS = 2500;

/** Gives 0 when `/healthz` answers 200 at the configured address, else 1. */
export async function health(
  { config }: LaunchMessage,
  signal: AbortSignal,
): Promise<number> {
  const address = ownAddress(config);
  try {
    const answer = await fetch(`http://${address}/healthz`, {
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
    });
    await answer.body?.cancel();
    if (answer.status === 200) {
      print("stdout", `alive at ${address}`);
      return 0;
    }
    print("stderr", `${address} answers ${answer.status}`);
  } catch {
    print(
      "stderr",
      `Nothing answers at ${address}; is --listen (CYBEROS_LISTEN) the server's own`,
    );
  }
  return 1;
}
