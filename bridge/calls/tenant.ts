/** The tenant is the token's claim and nothing else. */
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import { BridgeError } from "../errors.ts";
import type { Principal } from "../types.ts";

// `tenant` alone is a word that a workflow's inputs may well use for something else.
const IN_ARGUMENTS = ["tenant_id", "tenantId", "tenant"];
const IN_NESTED = ["tenant_id", "tenantId"];
const IN_META = [
  "tenant_id",
  "tenantId",
  "tenant",
  "cyberos/tenant_id",
  "cyberos/tenant",
];

/**
 * Refuses a named tenant that is not the caller's. Anything but the same UUID
 * disagrees: an array, an empty text, braces around it.
 *
 * @param named A value from a header, query, argument or `_meta`; `undefined` agrees.
 * @throws {BridgeError} `TENANT_MISMATCH`.
 */
export function refuseOtherTenant(
  principal: Principal,
  named: JsonValue | undefined,
): void {
  if (named === undefined) return;
  if (
    typeof named === "string" && named.toLowerCase() === principal.tenantId
  ) return;
  throw new BridgeError(
    "TENANT_MISMATCH",
    "The call names another tenant than its token",
  );
}

/**
 * The same for a whole call: its arguments, one level below them (`inputs`,
 * `body`), and its `_meta`.
 *
 * @throws {BridgeError} `TENANT_MISMATCH`.
 */
export function refuseOtherTenants(
  principal: Principal,
  args: JsonObject,
  meta: JsonObject,
): void {
  for (const key of IN_META) refuseOtherTenant(principal, own(meta, key));
  for (const key of IN_ARGUMENTS) refuseOtherTenant(principal, own(args, key));
  for (const value of Object.values(args)) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      continue;
    }
    for (const key of IN_NESTED) {
      refuseOtherTenant(principal, own(value as JsonObject, key));
    }
  }
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
