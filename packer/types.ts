/** The words of the packer's domain. */

/** Hosts that a bundle can be packed for. */
export type Target = "claude-code" | "cowork" | "cursor" | "codex-cli";

/** Hosts that the manifest contract names and this version does not pack for. */
export type DeferredTarget = "goose" | "amp" | "continue-dev";

/** All packable targets, in the order that help texts show. */
export const TARGETS: readonly Target[] = [
  "claude-code",
  "cowork",
  "cursor",
  "codex-cli",
];

/** All deferred targets. */
export const DEFERRED_TARGETS: readonly DeferredTarget[] = [
  "goose",
  "amp",
  "continue-dev",
];

/**
 * A file of a bundle: its name, mode, size and digest are known, its content is
 * fetched when it is needed, so that a large bundle never sits in memory whole.
 */
export interface BundleEntry {
  /** `/`-separated, NFC, relative to the bundle's root. */
  readonly path: string;
  /** 0o644, or 0o755 for a bridge binary taken along. */
  readonly mode: 0o644 | 0o755;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the content, lower-case hex. */
  readonly sha256: string;
  /**
   * The content, the same at every call.
   *
   * @throws {PackerError} `ENTRY_CHANGED` when it no longer has this digest.
   */
  read(): Promise<Uint8Array<ArrayBuffer>>;
}

/** What `pack` made. Source: TASK-PLUGIN-001 §3. */
export interface PackResult {
  /** The bundle file, below the output folder as that was given. */
  readonly bundle_path: string;
  /** SHA-256 of the bundle file, lower-case hex. */
  readonly sha256: string;
  /** Bytes of the bundle file. */
  readonly size_bytes: number;
  /** Tools that the manifest declares. */
  readonly tools_count: number;
  /** Commands that the host has as commands. */
  readonly commands_count: number;
  /** Skills that the host has, those made of commands included. */
  readonly skills_count: number;
  /** The host. */
  readonly target: Target;
  /** Whether the signature in the manifest is a valid one of this content. */
  readonly signature: "verified" | "unverified" | "unsigned";
}
