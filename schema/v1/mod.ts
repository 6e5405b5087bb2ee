/** The rules of schema version 1.0.0. */
import type { FaultCollector } from "../collector.ts";
import type { JsonValue } from "../json.ts";
import { checkAudit } from "./audit.ts";
import { checkCapabilities } from "./capabilities.ts";
import { checkHidden } from "./hidden.ts";
import { checkHostNames } from "./host_names.ts";
import { checkInputSchemas } from "./input_schemas.ts";
import { checkLicence } from "./licence.ts";
import { checkOpenMembers, checkRepetitions } from "./lists.ts";
import { objectOf } from "./parts.ts";
import { checkScopes } from "./scopes.ts";
import { checkSignature } from "./signature.ts";
import { checkStructure } from "./structure.ts";
import { checkTools } from "./tools.ts";
import { checkUrls } from "./urls.ts";

/** What the schema cannot say. Each rule looks only at parts of the right type. */
const RULES = [
  checkRepetitions,
  checkOpenMembers,
  checkTools,
  checkInputSchemas,
  checkCapabilities,
  checkScopes,
  checkHostNames,
  checkHidden,
  checkUrls,
  checkAudit,
  checkSignature,
] as const;

/** Applies the schema and every rule beside it. */
export async function checkV1(
  value: JsonValue,
  faults: FaultCollector,
): Promise<void> {
  await checkStructure(value, faults);
  const manifest = objectOf(value);
  for (const rule of RULES) {
    if (faults.full) return;
    rule(manifest, faults);
  }
  await checkLicence(manifest, faults);
}
