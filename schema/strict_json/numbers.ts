/** Whether a JSON number survives being read as a double. */

const TOKEN = /^-?0*(\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * @param token A number by RFC 8259 §6.
 * @returns False where the double that JavaScript reads stands for another
 * number: integers beyond 2^53, overflow, digits that get lost.
 */
export function survives(token: string): boolean {
  const read = Number(token);
  if (!Number.isFinite(read)) return false;
  if (Number.isInteger(read) && !Number.isSafeInteger(read)) return false;
  return token.length < 16 || digits(token) === digits(String(read));
}

/** Significant digits and exponent, so that `1.0`, `1` and `10e-1` are one text. */
function digits(token: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = TOKEN.exec(token) ?? [];
  const all = whole + fraction;
  const significant = all.replace(/^0+/, "").replace(/0+$/, "");
  if (significant === "") return "0";
  const trailing = all.length - all.replace(/0+$/, "").length;
  return `${significant}e${Number(exponent) - fraction.length + trailing}`;
}
