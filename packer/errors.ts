import type { Finding } from "../schema/finding.ts";

/** A stable name for each way in which the packer refuses. */
export type PackerErrorCode =
  | "MANIFEST_UNREADABLE"
  | "MANIFEST_INVALID"
  | "UNSIGNED_MANIFEST"
  | "SIGNATURE_INVALID"
  | "UNKNOWN_TARGET"
  | "DEFERRED_TARGET"
  | "TARGET_NOT_DECLARED"
  | "ENTRY_REFUSED"
  | "ENTRY_CHANGED"
  | "ARCHIVE_TOO_LARGE"
  | "COMPRESSOR_MISMATCH"
  | "OUTPUT_UNWRITABLE"
  | "BUNDLE_UNREADABLE"
  | "SIGNING_FAILED"
  | "TRUST_ROOT_INVALID"
  | "POLICY_INVALID";

/** A refusal of the packer: nothing was written. `cause` keeps the reason underneath. */
export class PackerError extends Error {
  /** The class's name. */
  override readonly name: string = "PackerError";
  /** For programs. */
  readonly code: PackerErrorCode;
  /** What the author can do about it. */
  readonly hint: string | undefined;

  /**
   * Made by the packer.
   *
   * @param message What happened, naming the place.
   */
  constructor(
    code: PackerErrorCode,
    message: string,
    options: ErrorOptions & { readonly hint?: string } = {},
  ) {
    super(
      message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.hint = options.hint;
  }
}

/** The manifest has no signature. Source: TASK-PLUGIN-001 §4 criterion 14. */
export class UnsignedManifestError extends PackerError {
  /** The class's name. */
  override readonly name: string = "UnsignedManifestError";
  /**
   * Made by the packer.
   *
   * @param message What is missing, naming the manifest.
   */
  constructor(
    message: string,
    options: ErrorOptions & { readonly hint?: string } = {},
  ) {
    super("UNSIGNED_MANIFEST", message, options);
  }
}

/** No host of this name is known. Source: TASK-PLUGIN-001 §4 criterion 19. */
export class UnknownTargetError extends PackerError {
  /** The class's name. */
  override readonly name: string = "UnknownTargetError";
  /**
   * Made by the packer.
   *
   * @param message The name that was given.
   */
  constructor(
    message: string,
    options: ErrorOptions & { readonly hint?: string } = {},
  ) {
    super("UNKNOWN_TARGET", message, options);
  }
}

/** The host is known and not packed for yet. */
export class DeferredTargetError extends PackerError {
  /** The class's name. */
  override readonly name: string = "DeferredTargetError";
  /**
   * Made by the packer.
   *
   * @param message The host's name.
   */
  constructor(
    message: string,
    options: ErrorOptions & { readonly hint?: string } = {},
  ) {
    super("DEFERRED_TARGET", message, options);
  }
}

/** The manifest breaks its contract. Source: TASK-PLUGIN-001 §1 clause 1. */
export class InvalidManifestError extends PackerError {
  /** The class's name. */
  override readonly name: string = "InvalidManifestError";
  /** All that is wrong, errors and warnings. */
  readonly findings: readonly Finding[];
  /**
   * Made by the packer.
   *
   * @param message Which manifest.
   */
  constructor(
    message: string,
    findings: readonly Finding[],
    options: ErrorOptions & { readonly hint?: string } = {},
  ) {
    super("MANIFEST_INVALID", message, options);
    this.findings = findings;
  }
}
