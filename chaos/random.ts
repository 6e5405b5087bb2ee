/** Chance that can be repeated. */

/** Numbers and choices, the same for the same seed. */
export interface Chance {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  /** Whether something of this likelihood happens. */
  happens(likelihood: number): boolean;
  /** Chance of its own, so that one part's draws do not move another's. */
  fork(name: string): Chance;
}

/** Makes chance from a seed (mulberry32). */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick: (items) => items[Math.floor(next() * items.length)] as never,
    happens: (likelihood) => next() < likelihood,
    fork(name) {
      let hash = seed;
      for (const char of name) {
        hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
      }
      return createChance(hash);
    },
  };
}
