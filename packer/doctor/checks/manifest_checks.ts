/** Invariants 3 to 7: what the manifest declares. */
import type { JsonObject } from "../../../schema/json.ts";
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

/** Invariant 5: what the tools can do is declared, and what is declared is said plainly. */
export function checkCapabilities(evidence: Evidence): Promise<Outcome> {
  return judged(evidence, "capabilities", () => {
    const scopes = scopesOf(evidence.manifest);
    const declared = Object.entries(CAPABILITY_SCOPES).filter(([name]) =>
      (evidence.manifest.capabilities as JsonObject)?.[name] === true
    );
    const used = declared.filter(([, scope]) => scopes.has(scope));
    const idle = declared.filter(([, scope]) => !scopes.has(scope));
    const names = (list: typeof declared) => list.map(([name]) => name);
    const rest = idle.length === 0
      ? ""
      : `; declared and not used: ${names(idle).join(", ")}`;
    return `The tools use: ${names(used).join(", ") || "none"}${rest}`;
  });
}

function scopesOf({ tools }: JsonObject): ReadonlySet<unknown> {
  if (!Array.isArray(tools)) return new Set();
  return new Set(tools.flatMap((tool) => (tool as JsonObject)?.scopes ?? []));
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
