/** Bounds on what is read from a stranger and what is packed. */
export interface ArchiveLimits {
  /** Bytes of the bundle file. */
  readonly archiveBytes: number;
  readonly entries: number;
  /** Bytes of all entries together. */
  readonly unpackedBytes: number;
  /** Bytes of one entry: a compiled bridge is up to 140 MB. */
  readonly entryBytes: number;
}

/** The bounds in force unless a caller gives others. */
export const ARCHIVE_LIMITS: ArchiveLimits = {
  archiveBytes: 320 * 1024 * 1024,
  entries: 10_000,
  unpackedBytes: 384 * 1024 * 1024,
  entryBytes: 192 * 1024 * 1024,
};
