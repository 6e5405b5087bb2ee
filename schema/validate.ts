/** The validator: text in, findings out. No I/O, no exceptions. */
import {
  FaultCollector,
  MAX_FINDINGS,
  placeAt,
  toFinding,
} from "./collector.ts";
import type { Finding } from "./finding.ts";
import type { Manifest } from "./manifest.ts";
import type { JsonDocument, JsonLimits } from "./strict_json/mod.ts";
import { MANIFEST_LIMITS, parseStrictJson } from "./strict_json/mod.ts";
import { validateDispatch } from "./validate_dispatch.ts";

/** What the validator found. */
export interface ValidationReport {
  /** In document order, at most a few hundred. */
  readonly findings: readonly Finding[];
  /** No finding is an error. */
  readonly valid: boolean;
  /** There were more findings than are listed. */
  readonly truncated: boolean;
  /** The manifest, where it is valid. */
  readonly manifest?: Manifest;
  /** The text with its places. */
  readonly document: JsonDocument;
}

/** How {@link validateManifest} reads. */
export interface ValidateOptions {
  /** Default: {@link MANIFEST_LIMITS}. */
  readonly limits?: JsonLimits;
}

/**
 * Checks a manifest's text by itself; what it declares in other files is
 * `validateDeclaredFiles`' part.
 *
 * @param source The file: bytes, so that its encoding is judged too, or text.
 * Anything at all: a stranger's file costs bounded time and memory.
 */
export async function validateManifest(
  source: string | Uint8Array,
  options: ValidateOptions = {},
): Promise<ValidationReport> {
  const document = parseStrictJson(source, options.limits ?? MANIFEST_LIMITS);
  const faults = new FaultCollector(brokenPlaces(document));
  if (document.value !== undefined) {
    await validateDispatch(document.value, faults);
  }
  const findings = [
    ...(faults.exclusive ? [] : placeTextFaults(document)),
    ...faults.place(document),
  ]
    .sort((a, b) => a.line - b.line || a.column - b.column);
  const valid = !findings.some(({ severity }) => severity === "error");
  return {
    findings: findings.slice(0, MAX_FINDINGS),
    valid,
    truncated: faults.full || findings.length > MAX_FINDINGS,
    document,
    ...(valid ? { manifest: document.value as unknown as Manifest } : {}),
  };
}

function placeTextFaults(document: JsonDocument): Finding[] {
  return document.faults.map((fault) =>
    toFinding(fault, placeAt(document, fault.offset))
  );
}

/** Where the text is no JSON value, so that its value would only mislead. */
function brokenPlaces(document: JsonDocument): string[] {
  return document.faults
    .filter(({ constraint }) => constraint === "not_json_value")
    .map(({ json_pointer }) => json_pointer);
}
