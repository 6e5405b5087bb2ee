/**
 * A valid manifest as a type. `manifest.schema.json` is the contract; a test
 * holds the two together.
 *
 * Source: TASK-PLUGIN-001 §3.
 */
import type { JsonObject } from "./json.ts";
import type { Capability } from "./scopes.ts";

/** Hosts that a manifest may name. */
export type ManifestTarget =
  | "claude-code"
  | "cursor"
  | "cowork"
  | "codex-cli"
  | "goose"
  | "amp"
  | "continue-dev";

/** Kinds of audit rows that a plugin may emit. */
export type AuditKind =
  | "plugin.installed"
  | "plugin.updated"
  | "plugin.uninstalled"
  | "plugin.invoked"
  | "plugin.auth_refreshed"
  | "plugin.scope_denied";

/** A manifest of schema version 1.0.0. */
export interface Manifest {
  readonly schema_version: "1.0.0";
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  readonly authors: readonly ManifestAuthor[];
  readonly license: string;
  readonly capabilities: Readonly<Partial<Record<Capability, boolean>>>;
  readonly tools: readonly ManifestTool[];
  readonly commands?: readonly ManifestCommand[];
  readonly skills?: readonly ManifestSkill[];
  readonly auth: ManifestAuth;
  readonly audit: ManifestAudit;
  readonly targets: readonly ManifestTarget[];
  readonly signature: ManifestSignature;
  readonly marketplace?: ManifestMarketplace;
}

/** Who made the plugin. */
export interface ManifestAuthor {
  readonly name: string;
  readonly email?: string;
  readonly url?: string;
}

/** One MCP tool. */
export interface ManifestTool {
  /** SEP-986. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema 2020-12 of the arguments. */
  readonly input_schema: JsonObject;
  readonly annotations?: {
    readonly destructive?: boolean;
    readonly write?: boolean;
    readonly external_effect?: boolean;
  };
  readonly scopes: readonly string[];
}

/** One slash command. */
export interface ManifestCommand {
  /** With its slash. */
  readonly name: string;
  /** Relative to the manifest's folder. */
  readonly file: string;
  readonly description?: string;
}

/** One skill. */
export interface ManifestSkill {
  readonly id: string;
  /** Relative to the manifest's folder. */
  readonly path: string;
}

/** How the plugin gets a token. */
export interface ManifestAuth {
  readonly method: "oauth-pkce";
  readonly authorize_url: string;
  readonly token_url: string;
  readonly scopes: readonly string[];
  readonly refresh_interval_seconds?: number;
}

/** Where the plugin reports what happens to it. */
export interface ManifestAudit {
  readonly endpoint: string;
  readonly kinds: readonly AuditKind[];
}

/** Claims about who signed; nothing here is verified. */
export interface ManifestSignature {
  /** Base64 of the Sigstore bundle. */
  readonly sigstore_bundle: string;
  readonly rekor_uuid: string;
}

/** How the marketplace lists the plugin. */
export interface ManifestMarketplace {
  readonly visibility?: "public" | "private" | "enterprise";
  readonly vetted_by_cyberskill?: boolean;
  readonly price_usd_per_month?: number;
  readonly revenue_share_percent?: number;
}
