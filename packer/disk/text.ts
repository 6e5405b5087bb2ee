/** Line ends: a checkout on Windows must not make another bundle. */

const TEXTS = /\.(md|txt|json|ya?ml|csv|svg)$/i;

/** Whether a file of this name is text, whose line ends are made LF. */
export function isText(path: string): boolean {
  return TEXTS.test(path);
}

/** The same text with LF for CR LF; a lone CR stays. */
export function unixLineEnds(
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const first = bytes.indexOf(13);
  if (first < 0) return bytes;
  const out = new Uint8Array(bytes.length);
  out.set(bytes.subarray(0, first));
  let at = first;
  for (let i = first; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    if (byte === 13 && bytes[i + 1] === 10) continue;
    out[at++] = byte;
  }
  return out.subarray(0, at);
}
