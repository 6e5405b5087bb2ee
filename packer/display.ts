/** A stranger's name, safe to print: what is not visible is escaped. */
export function display(path: string): string {
  const text = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return text.replace(
    /[\p{C}\p{Z}"\\]/gu,
    (char) =>
      char === " " ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/**
 * JSON on several lines that reads back the same and cannot steer a terminal: a
 * character in a text that is not visible is written as its escape.
 */
export function displayJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2).replace(
    /(?!\n)[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu,
    (char) =>
      Array.from({ length: char.length }, (_, i) => unit(char, i)).join(""),
  );
  return `${text}\n`;
}

function unit(char: string, i: number): string {
  return `\\u${char.charCodeAt(i).toString(16).padStart(4, "0")}`;
}
