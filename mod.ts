/**
 * CyberOS plugins: validate a manifest, pack it into a reproducible bundle for a
 * host, and examine bundles from strangers. Run as a program it is
 * `cyberos-plugin`.
 *
 * @example Pack a plugin
 * ```ts ignore
 * import { pack } from "@cyberos/plugin";
 *
 * const { bundle_path, sha256 } = await pack("cyberos@1.0.0.plugin.json", {
 *   target: "claude-code",
 *   outDir: "dist",
 * });
 * ```
 *
 * @module
 */
export * from "./packer/mod.ts";
export {
  compareVersions,
  filesInMemory,
  validateManifest,
  validatePlugin,
  VERSION,
} from "./schema/mod.ts";
export type {
  AuditKind,
  Capability,
  DeclaredFiles,
  EntryKind,
  Finding,
  JsonDocument,
  JsonFault,
  JsonLimits,
  JsonNode,
  JsonObject,
  JsonReading,
  JsonValue,
  Manifest,
  ManifestAudit,
  ManifestAuth,
  ManifestAuthor,
  ManifestCommand,
  ManifestMarketplace,
  ManifestSignature,
  ManifestSkill,
  ManifestTarget,
  ManifestTool,
  Severity,
  TextPosition,
  ValidateOptions,
  ValidationReport,
} from "./schema/mod.ts";

if (import.meta.main) await (await import("./cli.ts")).main();
