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
  /** The generation of the contract. */
  readonly schema_version: "1.0.0";
  /** 3 to 64 lower-case letters, digits and hyphens. */
  readonly id: string;
  /** SemVer 2.0. */
  readonly version: string;
  /** What hosts show, 1 to 80 characters. */
  readonly name: string;
  /** 60 to 480 characters. */
  readonly description: string;
  /** At least one. */
  readonly authors: readonly ManifestAuthor[];
  /** An SPDX expression. */
  readonly license: string;
  /** What hosts tell a person at install time. */
  readonly capabilities: Readonly<Partial<Record<Capability, boolean>>>;
  /** At least one. */
  readonly tools: readonly ManifestTool[];
  /** Slash commands, for hosts that have them. */
  readonly commands?: readonly ManifestCommand[];
  /** Agent Skills that come with the plugin. */
  readonly skills?: readonly ManifestSkill[];
  /** How the plugin gets a token. */
  readonly auth: ManifestAuth;
  /** Where the plugin reports what happens to it. */
  readonly audit: ManifestAudit;
  /** The hosts it is meant for; at least one. */
  readonly targets: readonly ManifestTarget[];
  /** Who signed, as the manifest claims. */
  readonly signature: ManifestSignature;
  /** How the marketplace lists the plugin. */
  readonly marketplace?: ManifestMarketplace;
}

/** Who made the plugin. */
export interface ManifestAuthor {
  /** Of a person or a company. */
  readonly name: string;
  /** For questions about the plugin. */
  readonly email?: string;
  /** http or https. */
  readonly url?: string;
}

/** One MCP tool. */
export interface ManifestTool {
  /** SEP-986. */
  readonly name: string;
  /** What a model reads when it chooses a tool; at least 30 characters. */
  readonly description: string;
  /** JSON Schema 2020-12 of the arguments. */
  readonly input_schema: JsonObject;
  /** What a call may do; each is false if left out. */
  readonly annotations?: {
    /** Changes or adds something that cannot be taken back. */
    readonly destructive?: boolean;
    /** Changes state. */
    readonly write?: boolean;
    /** May reach systems outside CyberOS. */
    readonly external_effect?: boolean;
  };
  /** Every scope that a caller needs; at least one. */
  readonly scopes: readonly string[];
}

/** One slash command. */
export interface ManifestCommand {
  /** With its slash. */
  readonly name: string;
  /** Relative to the manifest's folder. */
  readonly file: string;
  /** One line for lists of commands. */
  readonly description?: string;
}

/** One skill. */
export interface ManifestSkill {
  /** The name of its folder. */
  readonly id: string;
  /** Relative to the manifest's folder. */
  readonly path: string;
}

/** How the plugin gets a token. */
export interface ManifestAuth {
  /** The only method: a stolen bundle must not yield credentials. */
  readonly method: "oauth-pkce";
  /** https outside loopback. */
  readonly authorize_url: string;
  /** https outside loopback. */
  readonly token_url: string;
  /** Every scope that some tool needs. */
  readonly scopes: readonly string[];
  /** At least 600. */
  readonly refresh_interval_seconds?: number;
}

/** Where the plugin reports what happens to it. */
export interface ManifestAudit {
  /** https outside loopback. */
  readonly endpoint: string;
  /** At least four. */
  readonly kinds: readonly AuditKind[];
}

/** Claims about who signed; nothing here is verified. */
export interface ManifestSignature {
  /** Base64 of the Sigstore bundle. */
  readonly sigstore_bundle: string;
  /** Of the entry in the transparency log. */
  readonly rekor_uuid: string;
}

/** How the marketplace lists the plugin. */
export interface ManifestMarketplace {
  /** Who sees it. */
  readonly visibility?: "public" | "private" | "enterprise";
  /** Set by CyberSkill after review. */
  readonly vetted_by_cyberskill?: boolean;
  /** From 0. */
  readonly price_usd_per_month?: number;
  /** The author's share, 0 to 100. */
  readonly revenue_share_percent?: number;
}
