/** Random access to an archive, so that it need not be in memory. */
export interface ArchiveSource {
  /** Bytes. */
  readonly size: number;
  /** Exactly `length` bytes, or fewer where the archive ends. */
  read(offset: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** An archive in memory. */
export function bytesSource(bytes: Uint8Array<ArrayBuffer>): ArchiveSource {
  return {
    size: bytes.length,
    read: (offset, length) =>
      Promise.resolve(bytes.subarray(offset, offset + length)),
  };
}
