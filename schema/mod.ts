/**
 * What a plugin is: the manifest contract, its validator, the tables of tools
 * and scopes.
 *
 * @module
 */
export { compileArguments } from "./arguments.ts";
export type { ArgumentCheck, ArgumentFault } from "./arguments.ts";
export { toSpecError } from "./finding.ts";
export type { Finding, Severity, SpecError } from "./finding.ts";
export type { JsonObject, JsonValue } from "./json.ts";
export { fromPointer, resolvePointer, toPointer } from "./json_pointer.ts";
export type {
  AuditKind,
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
} from "./manifest.ts";
export { validateDeclaredFiles } from "./files/mod.ts";
export { filesInMemory } from "./files/port.ts";
export type { DeclaredFiles, EntryKind } from "./files/port.ts";
export { ALL_SCOPES, findTool, TOOLS } from "./tools.ts";
export type { ToolAnnotations, ToolDefinition, ToolName } from "./tools.ts";
export { CAPABILITY_SCOPES, WRITE_SCOPES } from "./scopes.ts";
export type { Capability, Scope } from "./scopes.ts";
export { compareVersions, parseVersion } from "./semver.ts";
export type { Version } from "./semver.ts";
export { MANIFEST_LIMITS, parseStrictJson } from "./strict_json/mod.ts";
export type {
  JsonDocument,
  JsonFault,
  JsonLimits,
  JsonNode,
  JsonReading,
  TextPosition,
} from "./strict_json/mod.ts";
export { readFrontmatter } from "./files/frontmatter.ts";
export type { Frontmatter, FrontmatterFault } from "./files/frontmatter.ts";
export { validateManifest } from "./validate.ts";
export { validatePlugin } from "./validate_plugin.ts";
export type { ValidateOptions, ValidationReport } from "./validate.ts";
export { KNOWN_SCHEMA_VERSIONS } from "./validate_dispatch.ts";
export { VERSION } from "./version.ts";
