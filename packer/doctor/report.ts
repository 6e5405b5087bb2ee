/** The examination as data and as text. */
import type { JsonObject } from "../../schema/json.ts";
import type { Examination } from "./examine.ts";
import { EXPLANATIONS } from "./explain.ts";
import {
  INVARIANT_IDS,
  INVARIANT_TITLES,
  type InvariantId,
  type Outcome,
} from "./invariants.ts";
import type { Verdict } from "./verdicts.ts";

/** Exit codes of `doctor`. */
export const EXIT = {
  /** All eight hold. */
  ok: 0,
  /** At least one does not. */
  invalid: 1,
  /** None is broken, but not all could be checked. */
  unverified: 3,
} as const;

/** The verdicts that fail the bundle, the most telling one first. */
export function verdictsOf(examination: Examination): readonly Verdict[] {
  const codes = [...examination.outcomes.values()].flatMap((outcome) =>
    outcome.status === "fail" ? outcome.findings.map(({ code }) => code) : []
  );
  return [...new Set(codes)];
}

/** The exit code of `cyberos-plugin doctor`: 0 if all eight hold, 1 if one is broken, 3 if one could not be checked. */
export function exitCodeOf(examination: Examination): number {
  const statuses = [...examination.outcomes.values()].map(({ status }) =>
    status
  );
  if (statuses.includes("fail")) return EXIT.invalid;
  return statuses.includes("unchecked") ? EXIT.unverified : EXIT.ok;
}

/** What `--json` prints. Strings are the bundle's own; `displayJson` makes them safe for a terminal. */
export function reportJson(path: string, examination: Examination): JsonObject {
  const { kind, plugin, target, outcomes, notes } = examination;
  return {
    ok: exitCodeOf(examination) === EXIT.ok,
    exit_code: exitCodeOf(examination),
    verdicts: verdictsOf(examination),
    bundle: path,
    kind,
    plugin: plugin === undefined ? null : { ...plugin },
    target: target ?? null,
    sha256: notes.sha256 ?? null,
    invariants: INVARIANT_IDS.map((id) =>
      invariantJson(id, outcomes.get(id) as Outcome)
    ),
    signature: signatureJson(examination),
  };
}

function invariantJson(id: InvariantId, outcome: Outcome): JsonObject {
  const base = { id, title: INVARIANT_TITLES[id], status: outcome.status };
  switch (outcome.status) {
    case "pass":
      return { ...base, reason: outcome.reason, note: outcome.note ?? null };
    case "unchecked":
      return { ...base, reason: outcome.reason, code: outcome.code ?? null };
    case "fail":
      return {
        ...base,
        code: outcome.findings[0]?.code ?? null,
        reason: outcome.findings[0]?.message ?? "",
        findings: outcome.findings.map((finding) => ({
          code: finding.code,
          message: finding.message,
          ...(finding.path !== undefined && { path: finding.path }),
          ...(finding.jsonPointer !== undefined &&
            { json_pointer: finding.jsonPointer }),
          ...(finding.offset !== undefined && { offset: finding.offset }),
        })),
      };
  }
}

function signatureJson({ notes }: Examination): JsonObject | null {
  const { signature, confirmedOnline } = notes;
  if (signature === undefined) return null;
  const { signer, entry } = signature;
  return {
    certificate_identity: signer.identity ?? null,
    certificate_oidc_issuer: signer.issuer ?? null,
    identity: signature.identity,
    trusted_root: signature.trustedRoot,
    rekor_uuid: signature.rekorUuid,
    log_url: signature.logUrl ?? null,
    log_index: entry.logIndex,
    integrated_time: entry.integratedTime.toISOString(),
    confirmed_online: confirmedOnline ?? false,
  };
}

const MARKS = { pass: "✓", fail: "✗", unchecked: "–" } as const;

/** What a person reads. Strings of the bundle are escaped. */
export function reportText(path: string, examination: Examination): string {
  const { plugin, target, kind, outcomes } = examination;
  const what = plugin === undefined
    ? kind
    : `${plugin.id} ${plugin.version} for ${target}, ${kind}`;
  const lines = [
    `${path}: ${what}`,
    "",
    ...INVARIANT_IDS.flatMap((id) =>
      invariantLines(id, outcomes.get(id) as Outcome)
    ),
    "",
    ...signatureLines(examination),
    conclusion(examination),
    ...verdictsOf(examination).map((code) =>
      `  ${code}: ${EXPLANATIONS[code]}`
    ),
  ];
  return lines.map((line) => `${printable(line)}\n`).join("");
}

const WIDTH = Math.max(
  ...Object.values(INVARIANT_TITLES).map(({ length }) => length),
);

function invariantLines(id: InvariantId, outcome: Outcome): string[] {
  const head = `${MARKS[outcome.status]} ${INVARIANT_TITLES[id].padEnd(WIDTH)}`;
  switch (outcome.status) {
    case "pass":
      return [
        `${head}  ${outcome.reason}${outcome.note ? ` [${outcome.note}]` : ""}`,
      ];
    case "unchecked":
      return [
        `${head}  not checked: ${outcome.reason}${
          outcome.code ? ` [${outcome.code}]` : ""
        }`,
      ];
    case "fail":
      return outcome.findings.slice(0, MAX_LINES).map((finding, i) =>
        `${
          i === 0 ? head : " ".repeat(WIDTH + 2)
        }  ${finding.message} [${finding.code}]`
      );
  }
}

// A hostile bundle may have thousands of faults: a person reads a few.
const MAX_LINES = 10;

function signatureLines({ notes }: Examination): string[] {
  const { signature, confirmedOnline, sha256 } = notes;
  const lines = sha256 === undefined ? [] : [`SHA-256      ${sha256}`];
  if (signature === undefined) return lines.length > 0 ? [...lines, ""] : [];
  const { signer, entry, logUrl } = signature;
  return [
    ...lines,
    `Signed by    ${signer.identity}`,
    `Issuer       ${signer.issuer}`,
    `Identity     ${
      signature.identity === "trusted"
        ? "is the one in your policy"
        : "not compared; see --certificate-identity and --policy"
    }`,
    `Trusted root ${signature.trustedRoot}`,
    `Signed at    ${entry.integratedTime.toISOString()}, entry ${entry.logIndex} of ${
      logUrl ?? "the log"
    }`,
    `Rekor UUID   ${signature.rekorUuid}${
      confirmedOnline ? " (the log has it)" : ""
    }`,
    "",
  ];
}

function conclusion(examination: Examination): string {
  switch (exitCodeOf(examination)) {
    case EXIT.ok:
      return examination.notes.signature?.identity === "trusted"
        ? "All 8 invariants hold"
        : "All 8 invariants hold; whether the signer is the right one is for you to say";
    case EXIT.unverified:
      return "Could not verify: not everything was checked, nothing was found broken";
    default:
      return "Do not install";
  }
}

/** A stranger's text must not steer the terminal. */
export function printable(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
