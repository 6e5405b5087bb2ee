/** A manifest together with the files that it declares. */
import { MAX_FINDINGS } from "./collector.ts";
import type { DeclaredFiles } from "./files/port.ts";
import type { JsonValue } from "./json.ts";
import { objectOf } from "./v1/parts.ts";
import type { ValidationReport } from "./validate.ts";
import { validateManifest } from "./validate.ts";
import { KNOWN_SCHEMA_VERSIONS } from "./validate_dispatch.ts";

/**
 * Checks a manifest as `validateManifest` does, then the files that it declares.
 *
 * @param files The folder that the manifest's paths are relative to.
 */
export async function validatePlugin(
  source: string | Uint8Array,
  files: DeclaredFiles,
): Promise<ValidationReport> {
  const report = await validateManifest(source);
  const version = objectOf(report.document.value).schema_version;
  if (!KNOWN_SCHEMA_VERSIONS.includes(String(version))) return report;
  const { commands, skills } = objectOf(report.document.value);
  if (isEmpty(commands) && isEmpty(skills)) return report;
  const { validateDeclaredFiles } = await import("./files/mod.ts");
  const inFiles = await validateDeclaredFiles(report.document, files);
  const { manifest, ...rest } = report;
  const valid = report.valid &&
    !inFiles.some(({ severity }) => severity === "error");
  const findings = [...report.findings, ...inFiles];
  return {
    ...rest,
    findings: findings.slice(0, MAX_FINDINGS),
    truncated: report.truncated || findings.length > MAX_FINDINGS,
    valid,
    ...(valid && manifest !== undefined ? { manifest } : {}),
  };
}

function isEmpty(list: JsonValue | undefined): boolean {
  return !Array.isArray(list) || list.length === 0;
}
