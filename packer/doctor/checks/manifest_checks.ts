/** Invariants 3 to 7: what the manifest declares. */
import { CAPABILITY_SCOPES } from "../../../schema/scopes.ts";
import type { Evidence } from "../evidence.ts";
import { textAt } from "../evidence.ts";
import { fail, type InvariantId, type Outcome, pass } from "../invariants.ts";

function judged(
  evidence: Evidence,
  id: InvariantId,
  reason: () => string,
): Promise<Outcome> {
  const issues = evidence.issues.get(id) ?? [];
  return Promise.resolve(issues.length > 0 ? fail(...issues) : pass(reason()));
}

/** Invariant 3. */
export function checkOauthPkce(evidence: Evidence): Promise<Outcome> {
  return judged(
    evidence,
    "oauth_pkce",
    () =>
      `Tokens come from "${textAt(evidence.manifest, "auth", "token_url")}"`,
  );
}

/** Invariant 4. */
export function checkAudit(evidence: Evidence): Promise<Outcome> {
  return judged(
    evidence,
    "audit",
    () =>
      `Audit rows go to "${textAt(evidence.manifest, "audit", "endpoint")}"`,
  );
}

/** Invariant 5: each declared capability has a tool with its scope, and none is hidden. */
export function checkCapabilities(evidence: Evidence): Promise<Outcome> {
  return judged(evidence, "capabilities", () => {
    const { capabilities } = evidence.manifest;
    const declared = Object.keys(CAPABILITY_SCOPES).filter((name) =>
      (capabilities as Record<string, unknown>)?.[name] === true
    );
    return `The tools' scopes match: ${declared.join(", ") || "none declared"}`;
  });
}

/** Invariant 6. */
export function checkSemver(evidence: Evidence): Promise<Outcome> {
  return judged(
    evidence,
    "semver",
    () => textAt(evidence.manifest, "version"),
  );
}

/** Invariant 7. */
export function checkToolNames(evidence: Evidence): Promise<Outcome> {
  return judged(evidence, "tool_names", () => {
    const { tools } = evidence.manifest;
    const count = Array.isArray(tools) ? tools.length : 0;
    return count === 1 ? "1 tool" : `${count} tools`;
  });
}
