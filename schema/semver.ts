/** Versions by SemVer 2.0. Source: https://semver.org/spec/v2.0.0.html §2, §9–§11. */

/** A version, taken apart. Numbers stay text: they have no upper bound. */
export interface Version {
  /** Decimal digits. */
  readonly core: readonly [major: string, minor: string, patch: string];
  /** The identifiers after `-`. */
  readonly prerelease: readonly string[];
  /** Does not change which version it is. */
  readonly build: readonly string[];
}

const NUMBER = "(?:0|[1-9][0-9]*)";
const PRERELEASE = `(?:${NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`;
const BUILD = "[0-9A-Za-z-]+";
const VERSION = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})` +
    `(?:-(${PRERELEASE}(?:\\.${PRERELEASE})*))?` +
    `(?:\\+(${BUILD}(?:\\.${BUILD})*))?$`,
);

/** Takes a version apart; `undefined` for what is none. */
export function parseVersion(text: string): Version | undefined {
  const match = VERSION.exec(text);
  if (match === null) return undefined;
  const [, major = "", minor = "", patch = "", prerelease, build] = match;
  return {
    core: [major, minor, patch],
    prerelease: prerelease?.split(".") ?? [],
    build: build?.split(".") ?? [],
  };
}

/**
 * Which of two versions comes first; build metadata does not count, so that
 * `1.0.0+a` and `1.0.0+b` are one version (TASK-PLUGIN-001 §1 clause 4).
 *
 * @returns Negative, zero or positive, as `Array.sort` takes it.
 * @throws {RangeError} One of them is no version.
 */
export function compareVersions(a: string, b: string): number {
  const left = requireVersion(a);
  const right = requireVersion(b);
  for (const [index, number] of left.core.entries()) {
    const order = compareNumbers(number, right.core[index] as string);
    if (order !== 0) return order;
  }
  return comparePrereleases(left.prerelease, right.prerelease);
}

function requireVersion(text: string): Version {
  const version = parseVersion(text);
  if (version === undefined) {
    throw new RangeError(`"${text}" is no version of SemVer 2.0`);
  }
  return version;
}

/** By length first, as there are no leading zeros; no digit gets lost. */
function compareNumbers(a: string, b: string): number {
  return a.length - b.length || compareTexts(a, b);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function comparePrereleases(
  a: readonly string[],
  b: readonly string[],
): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = compareIdentifiers(a[index] as string, b[index] as string);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareIdentifiers(a: string, b: string): number {
  const [aIsNumber, bIsNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (aIsNumber && bIsNumber) return compareNumbers(a, b);
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  return compareTexts(a, b);
}
