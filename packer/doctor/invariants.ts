/** The eight things that hold for a bundle one can trust. */
import type { DoctorFinding, Verdict } from "./verdicts.ts";

/** The invariants' stable names. */
export type InvariantId =
  | "reproducible"
  | "signed"
  | "oauth_pkce"
  | "audit"
  | "capabilities"
  | "semver"
  | "tool_names"
  | "no_escapes";

/** In the order in which they are reported. */
export const INVARIANT_TITLES: Readonly<Record<InvariantId, string>> = {
  reproducible: "Reproducible bytes",
  signed: "Signed",
  oauth_pkce: "OAuth with PKCE declared",
  audit: "Audit emission declared",
  capabilities: "Capabilities honest",
  semver: "Version is SemVer 2.0",
  tool_names: "Tool names follow SEP-986",
  no_escapes: "No host-runtime escapes",
};

/** All of them, in that order. */
export const INVARIANT_IDS: readonly InvariantId[] = Object.keys(
  INVARIANT_TITLES,
) as InvariantId[];

/** What a check found out. */
export type Outcome =
  | {
    readonly status: "pass";
    readonly reason: string;
    readonly note?: Verdict;
  }
  | { readonly status: "fail"; readonly findings: readonly DoctorFinding[] }
  | {
    readonly status: "unchecked";
    readonly reason: string;
    readonly code?: Verdict;
  };

/** The invariant holds. @param note A verdict that warns without failing. */
export function pass(reason: string, note?: Verdict): Outcome {
  return { status: "pass", reason, ...(note !== undefined && { note }) };
}

/** The invariant is broken. @param findings At least one; the first is the verdict. */
export function fail(...findings: readonly DoctorFinding[]): Outcome {
  return { status: "fail", findings };
}

/** The invariant could not be looked at. */
export function unchecked(reason: string, code?: Verdict): Outcome {
  return { status: "unchecked", reason, ...(code !== undefined && { code }) };
}
