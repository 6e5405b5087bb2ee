/** The names that a person most likely meant. */

const MAX_COMPARED = 128;

/**
 * At most `limit` of the names, the likeliest first: by edit distance, by
 * initials (`cto`), as an abbreviation, or because one contains the other.
 */
export function nearestNames(
  wanted: string,
  names: Iterable<string>,
  limit = 3,
): readonly string[] {
  const target = normalize(wanted);
  if (target === "") return [];
  const scored: { name: string; distance: number }[] = [];
  for (const name of names) {
    const distance = distanceOf(target, name);
    if (distance <= allowance(target)) scored.push({ name, distance });
  }
  scored.sort((a, b) =>
    a.distance - b.distance || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
  );
  return scored.slice(0, limit).map((entry) => entry.name);
}

/** A hint that names them, or that says where the names are listed. */
export function didYouMean(
  wanted: string,
  names: Iterable<string>,
  otherwise: string,
): string {
  const nearest = nearestNames(wanted, names);
  return nearest.length === 0
    ? otherwise
    : `Did you mean ${nearest.join(", ")}? ${otherwise}`;
}

function normalize(text: string): string {
  return text.slice(0, MAX_COMPARED).toLowerCase().trim()
    .replace(/[\s_/]+/g, "-");
}

function allowance(target: string): number {
  return Math.max(2, Math.floor(target.length / 4));
}

function distanceOf(target: string, name: string): number {
  if (target === name) return 0;
  if (initials(name) === target) return 0.5;
  if (abbreviates(target, name)) return 0.75;
  const contained = target.length >= 4 &&
    (name.includes(target) || target.includes(name));
  const edits = editDistance(target, name.slice(0, MAX_COMPARED));
  return contained ? Math.min(1, edits) : edits;
}

/** `chief-tech-officer` for `chief-technology-officer`. */
function abbreviates(target: string, name: string): boolean {
  const words = name.split("-");
  const short = target.split("-");
  return short.length === words.length &&
    short.every((word, at) => word !== "" && words[at]!.startsWith(word));
}

function initials(name: string): string {
  return name.split("-").map((word) => word.charAt(0)).join("");
}

/** Edits (insert, delete, replace, swap of neighbours) between two texts. */
export function editDistance(a: string, b: string): number {
  let twoAgo: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(
        previous[j]! + 1,
        row[j - 1]! + 1,
        previous[j - 1]! + cost,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, twoAgo[j - 2]! + 1);
      }
      row.push(best);
    }
    twoAgo = previous;
    previous = row;
  }
  return previous[b.length]!;
}
