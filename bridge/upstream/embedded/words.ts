/** Words of a request and of the catalogue, made comparable. */

const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an and are as at be been but by can could did do does done for from get
  give go had has have he her him his how i if in into is it its just let like
  made make may me might more most must my need needs no not of on or our out
  please put she should so some than that the their them then there these they
  this those to today too up us very want was we were what when where which who
  why will with would you your about after again all also any because before
  both during each few here over own same under until while help tell show
  write draft create prepare produce run new per`.split(/\s+/),
);

const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/ies$/, "y"],
  [/(ss|sh|ch|x)es$/, "$1"],
  [/([^su])s$/, "$1"],
  [/(.{3,})ing$/, "$1"],
  [/(.{3,})ed$/, "$1"],
  [/(.{3,})e$/, "$1"],
  [/([bdfgklmnprt])\1$/, "$1"],
];

/** The text in lower case, without accents, in words of letters and digits. */
export function splitWords(text: string): readonly string[] {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replaceAll("đ", "d")
    .match(/[\p{L}\p{N}]+(?:&[\p{L}\p{N}]+)*/gu) ?? [];
}

/** A word's stem, roughly; `undefined` for words that say nothing. */
export function stem(word: string): string | undefined {
  if (STOP_WORDS.has(word) || (word.length < 2 && !/\d/.test(word))) {
    return undefined;
  }
  let result = word;
  if (word.length > 3) {
    for (const [ending, replacement] of ENDINGS) {
      result = result.replace(ending, replacement);
    }
  }
  return result;
}

/** The distinct stems of a text, in order. */
export function stemsOf(text: string): readonly string[] {
  return [
    ...new Set(
      splitWords(text).map(stem).filter((word) => word !== undefined),
    ),
  ];
}
