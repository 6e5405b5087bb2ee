/** Bounds of what a JSON file from a stranger may cost. */
export interface JsonLimits {
  /** Of the file, in bytes. */
  readonly maxBytes: number;
  /** Of arrays and objects within each other. */
  readonly maxDepth: number;
  /** Of one array or object. */
  readonly maxMembers: number;
  /** Faults reported before reading stops. */
  readonly maxFaults: number;
}

/** The bounds of a manifest. */
export const MANIFEST_LIMITS: JsonLimits = {
  maxBytes: 1024 * 1024,
  maxDepth: 64,
  maxMembers: 10_000,
  maxFaults: 100,
};
