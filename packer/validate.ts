/** Validates a manifest on disk together with the files that it declares. */
import type { Finding } from "../schema/finding.ts";
import { MANIFEST_LIMITS } from "../schema/strict_json/mod.ts";
import { validatePlugin } from "../schema/validate_plugin.ts";
import { reasonOf } from "./disk/read.ts";
import { PackerError } from "./errors.ts";
import { folderOf } from "./source.ts";
import { filesOnDisk, readAtMost } from "./validate_report/disk_files.ts";

/**
 * All that is wrong with a plugin, errors and warnings; empty for a good one.
 *
 * Source: TASK-PLUGIN-001 §3.
 *
 * @param manifestPath `<id>@<version>.plugin.json`, with the files that it declares beside it.
 * @throws {PackerError} `MANIFEST_UNREADABLE`.
 */
export async function validate(
  manifestPath: string,
): Promise<readonly Finding[]> {
  let bytes: Uint8Array;
  try {
    bytes = await readAtMost(manifestPath, MANIFEST_LIMITS.maxBytes);
  } catch (cause) {
    throw new PackerError(
      "MANIFEST_UNREADABLE",
      `Cannot read "${manifestPath}": ${reasonOf(cause)}`,
      { cause },
    );
  }
  const files = filesOnDisk(folderOf(manifestPath));
  return (await validatePlugin(bytes, files)).findings;
}
