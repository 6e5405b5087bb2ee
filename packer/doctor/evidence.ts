/** What the checks look at. */
import type { JsonObject, JsonValue } from "../../schema/json.ts";
import type { Finding } from "../../schema/finding.ts";
import type { IdentityPolicy } from "../sigstore/policy.ts";
import type { TrustedRootSource } from "../sigstore/trusted_root.ts";
import type { VerifiedSignature } from "../sigstore/verify_signature.ts";
import type { BundleEntry, Target } from "../types.ts";
import type { ArchiveSource } from "../zip/source.ts";
import type { InvariantId } from "./invariants.ts";
import type { DoctorFinding } from "./verdicts.ts";

/** How a bundle is judged: the caller's side of the matter. */
export interface DoctorOptions {
  /** Believed besides the built-in ones. */
  readonly trustedRoots?: readonly TrustedRootSource[];
  /** Whose signature counts; without one the signer is shown and not judged. */
  readonly policy?: IdentityPolicy;
  /** Without a policy, fail. */
  readonly requireIdentity?: boolean;
  /** Ask the log for the entry. */
  readonly online?: {
    /** Base URL of the log; the trusted root's own when absent. */
    readonly rekorUrl?: string;
    readonly fetch: typeof fetch;
  };
  /** The time to judge by; now unless given. */
  readonly now?: Date;
}

/** A bundle with a sound container and a readable manifest. */
export interface Evidence {
  readonly kind: "archive" | "folder";
  readonly source?: ArchiveSource;
  readonly entries: readonly BundleEntry[];
  readonly manifestPath: string;
  readonly manifest: JsonObject;
  /** Contract errors of the manifest, each once, by the invariant they break. */
  readonly issues: ReadonlyMap<InvariantId, readonly DoctorFinding[]>;
  readonly notCanonical?: DoctorFinding;
  /** The host that it was packed for, as far as signature and layout say. */
  readonly target: Target;
  readonly options: DoctorOptions;
  /** What the checks leave for the report. */
  readonly notes: ReportNotes;
}

/** Facts for the report that are no verdicts. */
export interface ReportNotes {
  /** SHA-256 of the archive, or of the one that the folder packs to. */
  sha256?: string;
  /** A signature that holds. */
  signature?: VerifiedSignature;
  /** The log was asked, and has the entry. */
  confirmedOnline?: boolean;
}

/** A text of the manifest, for sentences. */
export function textAt(
  value: JsonValue | undefined,
  ...keys: readonly string[]
): string {
  let at: unknown = value;
  for (const key of keys) {
    at = typeof at === "object" && at !== null
      ? (at as Record<string, unknown>)[key]
      : undefined;
  }
  return typeof at === "string" ? at : "";
}

/** Sorts contract errors by the invariant that each breaks. */
export function sortIssues(
  issues: readonly Finding[],
): ReadonlyMap<InvariantId, readonly DoctorFinding[]> {
  const sorted = new Map<InvariantId, DoctorFinding[]>();
  for (const issue of issues) {
    const id = invariantOf(issue);
    const finding: DoctorFinding = {
      code: "MANIFEST_SCHEMA",
      message: `${issue.message} (at ${issue.json_pointer || "/"})`,
      jsonPointer: issue.json_pointer,
    };
    sorted.set(id, [...sorted.get(id) ?? [], finding]);
  }
  return sorted;
}

const PLACES: readonly (readonly [RegExp, InvariantId])[] = [
  [/^\/signature(\/|$)/, "signed"],
  [/^\/auth(\/|$)/, "oauth_pkce"],
  [/^\/audit(\/|$)/, "audit"],
  [/^\/capabilities(\/|$)/, "capabilities"],
  [/^\/tools\/\d+\/(scopes|annotations)(\/|$)/, "capabilities"],
  [/^\/version$/, "semver"],
  [/^\/tools\/\d+\/name$/, "tool_names"],
];

/** The packer emits no bundle of a manifest with errors, so the rest breaks the first. */
function invariantOf({ json_pointer }: Finding): InvariantId {
  const place = PLACES.find(([pattern]) => pattern.test(json_pointer));
  return place?.[1] ?? "reproducible";
}
