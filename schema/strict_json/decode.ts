/** Bytes to text, refusing whatever would be repaired silently. */
import type { JsonFault } from "./document.ts";
import type { JsonLimits } from "./limits.ts";

/** The text, with its byte order mark if it has one; or why there is none. */
export type Decoded =
  | { readonly text: string; readonly fault?: undefined }
  | { readonly text?: undefined; readonly fault: JsonFault };

/** Reads bytes as UTF-8. A fault names the byte offset of the first bad byte. */
export function decodeUtf8(bytes: Uint8Array, limits: JsonLimits): Decoded {
  if (bytes.length > limits.maxBytes) {
    return { fault: tooLarge(limits.maxBytes) };
  }
  const other = otherEncoding(bytes);
  if (other !== undefined) return { fault: encodingFault(other, 0) };
  try {
    return { text: decode(bytes) };
  } catch {
    const at = firstBadByte(bytes);
    return {
      fault: encodingFault(`not UTF-8: bad byte at byte offset ${at}`, at),
    };
  }
}

/** The fault of a file over the bound. */
export function tooLarge(maxBytes: number): JsonFault {
  return {
    json_pointer: "",
    constraint: "max_bytes",
    offset: 0,
    expected: maxBytes,
    message: `The file is over ${maxBytes} bytes`,
    hint:
      "A manifest holds declarations only; move content into commands/ and skills/, per TASK-PLUGIN-001 §1 clause 11",
  };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
    bytes,
  );
}

function otherEncoding(bytes: Uint8Array): string | undefined {
  const [a, b] = bytes;
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0)) return "UTF-16LE";
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0 && b !== undefined)) {
    return "UTF-16BE";
  }
  return undefined;
}

function encodingFault(what: string, byteOffset: number): JsonFault {
  return {
    json_pointer: "",
    constraint: "encoding",
    offset: 0,
    expected: "UTF-8",
    actual: what,
    message: `The file is ${what}, where JSON must be UTF-8`,
    hint:
      `Save the file as UTF-8 without a byte order mark (first bad byte: ${byteOffset}), per RFC 8259 §8.1 and TASK-PLUGIN-001 §1 clause 1`,
  };
}

/** The decoder only says that it failed, so the place is found by halving. */
function firstBadByte(bytes: Uint8Array): number {
  let good = 0;
  let bad = bytes.length;
  while (good < bad) {
    const middle = (good + bad + 1) >> 1;
    if (startsWell(bytes.subarray(0, middle))) good = middle;
    else bad = middle - 1;
  }
  return sequenceStart(bytes, good);
}

/** A cut sequence is blamed on its first byte, not on the byte that cut it. */
function sequenceStart(bytes: Uint8Array, end: number): number {
  for (let at = end - 1; at >= Math.max(0, end - 3); at--) {
    const byte = bytes[at] as number;
    if (byte >= 0xc0) return at;
    if (byte < 0x80) return end;
  }
  return end;
}

function startsWell(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
