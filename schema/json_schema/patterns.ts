/** Regular expressions of strangers, judged without running them. */

/** Longer ones are no description of an argument. */
export const MAX_PATTERN_LENGTH = 1000;

interface Group {
  /** Something in it must match exactly once, so that repetitions have a boundary. */
  fixed: boolean;
  /** Something in it repeats without bound. */
  unbounded: boolean;
}

const QUANTIFIER = /[*+?]\??|\{\d*,?\d*\}\??/y;

/**
 * Whether the expression has the best-known shape that takes exponential time:
 * a repeated group of nothing but repeated or optional parts, such as `(a+)+`.
 * `-[a-z]+` in `(-[a-z]+)*` is no such group, because `-` bounds it.
 */
export function mayBacktrackForever(pattern: string): boolean {
  const groups: Group[] = [{ fixed: false, unbounded: false }];
  for (let at = 0; at < pattern.length;) {
    const char = pattern.charAt(at);
    if (char === "(") {
      groups.push({ fixed: false, unbounded: false });
      at += groupOpening(pattern, at);
      continue;
    }
    const closed = char === ")" && groups.length > 1 ? groups.pop() : undefined;
    at = closed === undefined ? atomEnd(pattern, at) : at + 1;
    const quantifier = quantifierAt(pattern, at);
    at += quantifier.length;
    const unbounded = /^[*+]|,\}/.test(quantifier);
    const optional = /^[*?]|^\{0?,/.test(quantifier);
    if (
      closed !== undefined && unbounded && closed.unbounded && !closed.fixed
    ) {
      return true;
    }
    const group = groups.at(-1) as Group;
    if (char === "|" || char === "^" || char === "$") continue;
    group.unbounded ||= unbounded || (closed?.unbounded ?? false);
    group.fixed ||= closed === undefined
      ? !unbounded && !optional
      : closed.fixed && !optional;
  }
  return false;
}

function groupOpening(pattern: string, at: number): number {
  return /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/.exec(pattern.slice(at, at + 70))
    ?.[0].length ?? 1;
}

function atomEnd(pattern: string, at: number): number {
  const char = pattern.charAt(at);
  if (char === "\\") return at + 2;
  if (char !== "[") return at + 1;
  for (let end = at + 1; end < pattern.length; end++) {
    if (pattern.charAt(end) === "\\") end++;
    else if (pattern.charAt(end) === "]") return end + 1;
  }
  return pattern.length;
}

function quantifierAt(pattern: string, at: number): string {
  QUANTIFIER.lastIndex = at;
  return QUANTIFIER.exec(pattern)?.[0] ?? "";
}
