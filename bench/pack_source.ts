/** A small plugin that the packing benches fill up. */
export { FILES } from "../tests/packer/support/disk_plugin.ts";
import { PLACEHOLDER } from "../tests/packer/support/disk_plugin.ts";
import { MANIFEST } from "../tests/doctor/support/plugin.ts";

/** The manifest's file name. */
export const MANIFEST_NAME = "acme-trail@1.2.3.plugin.json";

/** The manifest's text. */
export function sourceManifest(): string {
  return JSON.stringify({ ...MANIFEST, signature: PLACEHOLDER }, null, 2);
}
