/**
 * CyberOS plugins: validate a manifest, pack it into a reproducible bundle for a
 * host, and examine bundles from strangers. Run as a program it is
 * `cyberos-plugin`.
 *
 * @example Validate a plugin, pack it, examine the bundle
 * ```ts
 * import { doctor, pack, validate } from "@cyberos/plugin";
 *
 * const manifest = "manifests/cyberos@1.0.0.plugin.json";
 * const findings = await validate(manifest);
 * if (findings.some(({ severity }) => severity === "error")) {
 *   throw new Error(findings[0]?.message);
 * }
 * const { bundle_path } = await pack(manifest, {
 *   target: "claude-code",
 *   outDir: await Deno.makeTempDir(),
 * });
 * const { outcomes } = await doctor(bundle_path);
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
