/** Tries everything that is configured and says what is wrong, in words. */
import { checkIssuerMetadata } from "../auth/issuer_metadata.ts";
import { compose } from "../compose/mod.ts";
import { dependencyStatuses } from "../compose/readiness.ts";
import type { LaunchMessage } from "../sandbox/launch_message.ts";
import type { DependencyStatus } from "../types.ts";
import { ownFlags, print } from "./own_flags.ts";
import { composeOptions } from "./serve.ts";

const DEADLINE_MS = 10_000;
const MARKS = {
  ok: "✓",
  degraded: "!",
  down: "✗",
  "not configured": "–",
} as const;

/** Gives 0 when everything that is needed works, else 1. */
export async function check(
  message: LaunchMessage,
  signal: AbortSignal,
): Promise<number> {
  const { config } = message;
  const quiet = { ...config, logLevel: "off" as const };
  const bridge = compose({ ...composeOptions(message), config: quiet });
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]);
  const statuses = [...await dependencyStatuses(bridge, deadline)];
  if (!config.embedded) {
    statuses.unshift(
      await checkIssuerMetadata({
        issuer: config.authIssuer,
        signal: deadline,
      }),
    );
  }
  await bridge.close();
  const ready = statuses.every(({ state }) =>
    state === "ok" || state === "degraded"
  );
  if (ownFlags(message.args).has("json")) {
    print("stdout", JSON.stringify({ ready, dependencies: statuses }, null, 2));
  } else {
    for (const status of statuses) print("stdout", line(status));
    print("stdout", ready ? "Ready." : "Not ready: see the lines with ✗ or –.");
  }
  return ready ? 0 : 1;
}

function line({ name, state, detail }: DependencyStatus): string {
  const reason = detail === undefined ? "" : `: ${detail}`;
  return `${MARKS[state]} ${name}: ${state}${reason}`;
}
