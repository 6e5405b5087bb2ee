/** Proves on the bridge's own connection that row-level security binds it. */
import { MIGRATIONS } from "../../migrations/mod.ts";
import { BridgeError } from "../errors.ts";
import type { SqlDriver } from "../ports.ts";
import { isNotMigrated, storeUnavailable } from "./sql_error.ts";

/** What `plugin_host.bridge_check()` says. */
interface CheckRow {
  readonly version: number | null;
  readonly superuser: boolean;
  readonly bypasses: boolean;
  readonly session_superuser: boolean;
  readonly owner: boolean;
  readonly bound: boolean;
  readonly forced: boolean;
  readonly policies: readonly string[] | null;
  readonly visible_without_tenant: number;
}

/** The oldest database that this program can work on. */
const NEEDED_VERSION: number = Math.max(
  ...MIGRATIONS.filter(({ scope }) => scope === "everywhere")
    .map(({ version }) => version),
);

/**
 * Refuses a database in which tenants are not kept apart, or which lacks what
 * this program calls.
 *
 * @param options `embedded`: the session's own user is a superuser that became
 * the bridge's role, and nobody else can connect.
 * @throws {BridgeError} `STORE_UNAVAILABLE` with a hint for the operator.
 */
export async function checkBridgeRole(
  driver: SqlDriver,
  options: { readonly embedded?: boolean } = {},
): Promise<void> {
  const row = await readCheck(driver);
  const fault = faultOf(row, options.embedded === true);
  if (fault !== undefined) {
    throw new RoleRefusedError(fault.message, fault.hint);
  }
  if ((row.version ?? 0) < NEEDED_VERSION) throw notMigrated(undefined);
}

/** Row-level security does not bind this connection: never go on with it. */
export class RoleRefusedError extends BridgeError {
  constructor(message: string, hint: string) {
    super("STORE_UNAVAILABLE", message, { hint, retryable: false });
  }
}

async function readCheck(driver: SqlDriver): Promise<CheckRow> {
  try {
    const [row] = await driver.query(
      "select plugin_host.bridge_check() as checked",
      [],
    );
    return row?.checked as CheckRow;
  } catch (error) {
    if (error instanceof BridgeError) throw error;
    if (isNotMigrated(error)) throw notMigrated(error);
    throw storeUnavailable(error);
  }
}

/** The store's schema is absent, too old, or not granted to our role. */
export function notMigrated(cause: unknown): BridgeError {
  return storeUnavailable(
    cause,
    "The operator must run cyberos-mcp-bridge migrate, and grant cyberos_bridge to the bridge's login.",
  );
}

const LOGIN_HINT =
  "Let the bridge log in as a role of its own: create role … login, then grant cyberos_bridge to it, and nothing else.";
// Name, command (all), and what it asks of rows that are read and written.
const OWN_TENANT =
  "(tenant_id = ( SELECT plugin_host.current_tenant() AS current_tenant))";
const POLICY = `tasks_rls * ${OWN_TENANT} ${OWN_TENANT}`;
const MIGRATE_HINT =
  "Run cyberos-mcp-bridge migrate, and undo what was changed by hand on plugin_host.tasks.";

function faultOf(
  row: CheckRow,
  embedded: boolean,
): { readonly message: string; readonly hint: string } | undefined {
  if (row.superuser) {
    return {
      message: "The bridge's database role is a superuser",
      hint: LOGIN_HINT,
    };
  }
  if (row.bypasses) {
    return {
      message: "The bridge's database role bypasses row-level security",
      hint: LOGIN_HINT,
    };
  }
  if (row.session_superuser && !embedded) {
    return {
      message: "The bridge logs in as a superuser that changes its role",
      hint: LOGIN_HINT,
    };
  }
  if (row.owner) {
    return {
      message: "The bridge's database role owns the task store",
      hint: LOGIN_HINT,
    };
  }
  if (!row.forced || !row.bound) {
    return {
      message: "Row-level security of the task store is not forced",
      hint: MIGRATE_HINT,
    };
  }
  if (row.policies?.join() !== POLICY || row.visible_without_tenant > 0) {
    return {
      message: "The task store's policies do not keep tenants apart",
      hint: MIGRATE_HINT,
    };
  }
  return undefined;
}
