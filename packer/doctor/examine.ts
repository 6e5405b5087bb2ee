/** The examination of a bundle, as one list of checks. */
import type { BundleEntry, Target } from "../types.ts";
import { checkEscapes } from "./checks/escapes.ts";
import {
  checkAudit,
  checkCapabilities,
  checkOauthPkce,
  checkSemver,
  checkToolNames,
} from "./checks/manifest_checks.ts";
import { checkReproducible } from "./checks/reproducible.ts";
import { checkSigned } from "./checks/signed.ts";
import {
  type DoctorOptions,
  type Evidence,
  type ReportNotes,
  sortIssues,
  textAt,
} from "./evidence.ts";
import {
  fail,
  INVARIANT_IDS,
  type InvariantId,
  type Outcome,
  unchecked,
} from "./invariants.ts";
import { readManifest } from "./manifest.ts";
import { openBundle, type OpenedBundle } from "./open.ts";
import { detectTarget } from "./target.ts";
import type { DoctorFinding } from "./verdicts.ts";

/** The whole examination: every invariant has one check, run in this order. */
const CHECKS: readonly (readonly [
  InvariantId,
  (evidence: Evidence) => Promise<Outcome>,
])[] = [
  ["reproducible", checkReproducible],
  ["signed", checkSigned],
  ["oauth_pkce", checkOauthPkce],
  ["audit", checkAudit],
  ["capabilities", checkCapabilities],
  ["semver", checkSemver],
  ["tool_names", checkToolNames],
  ["no_escapes", checkEscapes],
];

/** What became of an examination. */
export interface Examination {
  /** What was examined. */
  readonly kind: "archive" | "folder";
  /** Absent where no manifest could be read. */
  readonly plugin?: { readonly id: string; readonly version: string };
  /** The host; absent where no manifest could be read. */
  readonly target?: Target;
  /** What each check found out. */
  readonly outcomes: ReadonlyMap<InvariantId, Outcome>;
  /** Facts that are no verdicts. */
  readonly notes: ReportNotes;
}

/**
 * Examines a bundle: an archive for any target, or the folder it was unpacked to.
 *
 * Reads only; nothing of the bundle is written, run or fetched.
 *
 * @throws {PackerError} When nothing could be judged: `BUNDLE_UNREADABLE`,
 *   `TRUST_ROOT_INVALID`, `COMPRESSOR_MISMATCH`, `ENTRY_CHANGED`.
 */
export async function examineBundle(
  path: string,
  options: DoctorOptions = {},
): Promise<Examination> {
  const opened = await openBundle(path);
  try {
    return await examine(opened, options);
  } finally {
    opened.close();
  }
}

async function examine(
  opened: OpenedBundle,
  options: DoctorOptions,
): Promise<Examination> {
  const { kind, findings, entries } = opened;
  if (findings.length > 0) {
    return { kind, notes: {}, outcomes: containerOutcomes(findings) };
  }
  const read = await readManifest(entries);
  if ("code" in read) {
    return { kind, notes: {}, outcomes: containerOutcomes([read]) };
  }
  const evidence: Evidence = {
    kind,
    ...(opened.source && { source: opened.source }),
    entries: entries.map(remember({ bytes: KEPT_BYTES })),
    manifestPath: read.path,
    manifest: read.value,
    issues: sortIssues(read.issues),
    ...(read.notCanonical && { notCanonical: read.notCanonical }),
    target: detectTarget(entries, read.value),
    options,
    notes: {},
  };
  const outcomes = new Map<InvariantId, Outcome>();
  for (const [id, check] of CHECKS) outcomes.set(id, await check(evidence));
  return {
    kind,
    plugin: {
      id: textAt(read.value, "id"),
      version: textAt(read.value, "version"),
    },
    target: evidence.target,
    outcomes,
    notes: evidence.notes,
  };
}

// Content that stays in memory between the checks; the rest is inflated again.
const KEPT_BYTES = 32 * 1024 * 1024;

/** Entries that keep what was read, while the budget lasts. */
function remember(budget: { bytes: number }) {
  return (entry: BundleEntry): BundleEntry => {
    if (entry.size > budget.bytes) return entry;
    budget.bytes -= entry.size;
    let kept: Promise<Uint8Array<ArrayBuffer>> | undefined;
    return { ...entry, read: () => kept ??= entry.read() };
  };
}

/** A container that cannot be trusted to say one thing is not looked into. */
function containerOutcomes(
  findings: readonly DoctorFinding[],
): ReadonlyMap<InvariantId, Outcome> {
  const [first] = findings;
  const broken: InvariantId = first?.code.startsWith("PATH_")
    ? "no_escapes"
    : "reproducible";
  return new Map(INVARIANT_IDS.map((id) => [
    id,
    id === broken
      ? fail(...findings)
      : unchecked("The bundle could not be read without doubt"),
  ]));
}
