/** A stranger's name, safe to print: what is not visible is escaped. */
export function display(path: string): string {
  const text = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return text.replace(
    /[\p{C}\p{Z}"\\]/gu,
    (char) =>
      char === " " ? char : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
