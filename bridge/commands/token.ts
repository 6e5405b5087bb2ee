/** Prints an access token of the embedded issuer (decision D10). */
import { ALL_SCOPES } from "../../schema/tools.ts";
import {
  createEmbeddedIssuer,
  EMBEDDED_SUBJECT,
  EMBEDDED_TENANT,
} from "../compose/identity.ts";
import { SYSTEM_CLOCK } from "../compose/telemetry.ts";
import type { LaunchMessage } from "../sandbox/launch_message.ts";
import { ownFlags, print } from "./own_flags.ts";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DEFAULT_SECONDS = 3600;
const MAX_SECONDS = 30 * 24 * 3600;

/** Mints a token for bridges on the same data folder; gives the exit code. */
export async function token(message: LaunchMessage): Promise<number> {
  const { config, dataDir } = message;
  if (!config.embedded || dataDir === undefined) {
    return refuse(
      "mints tokens of the embedded issuer only: add --embedded, without --ephemeral",
    );
  }
  const flags = ownFlags(message.args);
  const scopes = (flags.get("scope") || ALL_SCOPES.join(" ")).split(/[\s,]+/)
    .filter(Boolean);
  const unknown = scopes.filter((scope) =>
    !(ALL_SCOPES as readonly string[]).includes(scope)
  );
  if (unknown.length > 0) {
    return refuse(
      `does not know the scope "${unknown[0]}"; there are ${
        ALL_SCOPES.join(" ")
      }`,
    );
  }
  const tenantId = (flags.get("tenant") || EMBEDDED_TENANT).toLowerCase();
  if (!UUID.test(tenantId)) return refuse("wants a UUID as --tenant");
  const seconds = Number(flags.get("expires") || DEFAULT_SECONDS);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_SECONDS) {
    return refuse(`wants --expires in whole seconds, 1 to ${MAX_SECONDS}`);
  }
  const issuer = createEmbeddedIssuer({ config, clock: SYSTEM_CLOCK, dataDir });
  print(
    "stdout",
    await issuer.mintAccessToken({
      subject: flags.get("subject") || EMBEDDED_SUBJECT,
      tenantId,
      scopes,
      expiresInSeconds: seconds,
    }),
  );
  return 0;
}

function refuse(text: string): number {
  print("stderr", `cyberos-mcp-bridge token ${text}`);
  return 2;
}
