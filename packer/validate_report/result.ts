/** What was found in one file named on the command line. */
import type { Finding } from "../../schema/finding.ts";

/** The result of one manifest. */
export interface FileResult {
  /** As it was named. */
  readonly file: string;
  /** In document order, those in declared files last. */
  readonly findings: readonly Finding[];
  /** There are more findings than are listed. */
  readonly truncated: boolean;
  /** What a valid manifest holds, in words. */
  readonly contents?: string;
  /** Why the declared files were left out. */
  readonly note?: string;
}

/** How many findings of each severity there are. */
export function count(
  results: readonly FileResult[],
): { readonly errors: number; readonly warnings: number } {
  const all = results.flatMap(({ findings }) => findings);
  const errors = all.filter(({ severity }) => severity === "error").length;
  return { errors, warnings: all.length - errors };
}

/** The path of the file that a finding is in: the manifest, or one beside it. */
export function pathOf(result: FileResult, finding: Finding): string {
  if (finding.file === undefined) return result.file;
  const folder = result.file.replace(/[^/\\]*$/, "");
  return folder + finding.file;
}
