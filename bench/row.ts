/** One measurement beside its peer. */
export interface Row {
  readonly name: string;
  readonly ours: number;
  readonly peer: number;
  readonly unit: string;
  /** What the ratio ought to be, in words. */
  readonly aim: string;
}

/** A bench: measures and reports rows. Throws where a peer cannot be had. */
export type Bench = (report: (row: Row) => void) => Promise<void>;
