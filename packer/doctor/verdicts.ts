/** Every verdict that `doctor` gives; docs/doctor.md explains each. */
import type { SignatureVerdict } from "../sigstore/refusal.ts";
import type { ZipVerdict } from "../zip/verdict.ts";

/** Verdicts on the manifest in a bundle. */
export type ManifestVerdict =
  | "MANIFEST_MISSING"
  | "MANIFEST_JSON"
  | "MANIFEST_NOT_CANONICAL"
  | "MANIFEST_SCHEMA";

/** Verdicts on what a host would run or read. */
export type EscapeVerdict =
  | "PATH_UNEXPECTED"
  | "HOST_CONFIG_FOREIGN"
  | "PROGRAM_SMUGGLED"
  | "SHELL_COMMAND"
  | "FRONTMATTER_FOREIGN"
  | "FILE_REFERENCE"
  | "TEXT_HIDDEN";

/** A stable name for each thing that `doctor` can find. */
export type Verdict =
  | ZipVerdict
  | "ZIP_NOT_REPRODUCIBLE"
  | SignatureVerdict
  | ManifestVerdict
  | EscapeVerdict;

/** One fault of a bundle. */
export interface DoctorFinding {
  /** For programs. */
  readonly code: Verdict;
  /** A sentence without a full stop. */
  readonly message: string;
  /** The file in the bundle, where one is at fault. */
  readonly path?: string;
  /** Into the manifest, RFC 6901. */
  readonly jsonPointer?: string;
  /** Byte offset in the archive. */
  readonly offset?: number;
}
