/** What a strict reading of an archive can find wrong. */

/** A stable name for each fault of an archive. */
export type ZipVerdict =
  /** Not a zip archive, or one cut off. */
  | "ZIP_UNREADABLE"
  | "ZIP_DUPLICATE"
  | "ZIP_LOCAL_MISMATCH"
  | "ZIP_GAP"
  | "ZIP_TRAILING_DATA"
  | "ZIP_MODE"
  | "ZIP_EXTRA_FIELD"
  | "ZIP_ENCRYPTED"
  | "ZIP_DATA"
  | "ZIP_NOT_CANONICAL"
  /** More bytes in the file, or more entries, than any bundle has. */
  | "LIMIT_ARCHIVE"
  | "LIMIT_UNPACKED"
  | "PATH_ILLEGAL"
  | "PATH_CASE_COLLISION";

/** One fault. */
export interface ZipFinding {
  readonly code: ZipVerdict;
  /** A sentence without a full stop. */
  readonly message: string;
  /** The entry, escaped for display, where one is at fault. */
  readonly path?: string;
  /** Byte offset in the archive. */
  readonly offset?: number;
}
