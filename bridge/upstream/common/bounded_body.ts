/** Bodies of strangers: read to a bound, in UTF-8, and no further. */

/** Why a body could not be taken. */
export type BodyFault = "too large" | "cut off" | "not UTF-8";

/** A body that was refused. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  constructor(readonly fault: BodyFault, options?: ErrorOptions) {
    super(`body ${fault}`, options);
  }
}

/**
 * The whole body as text without its byte order mark. Sizes count what arrives
 * after decompression.
 *
 * @throws {BodyError} A body over the bound is left unread.
 */
export async function readBoundedText(
  message: Pick<Response, "headers" | "body">,
  maxBytes: number,
): Promise<string> {
  if (Number(message.headers.get("content-length") ?? 0) > maxBytes) {
    discard(message);
    throw new BodyError("too large");
  }
  if (message.body === null) return "";
  const bytes = await readBounded(message.body, maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new BodyError("not UTF-8", { cause });
  }
}

/** Lets go of a body that nobody will read. */
export function discard(message: Pick<Response, "body">): void {
  message.body?.cancel().catch(() => {});
}

const MAX_SMALL_PIECES = 10_000;
const PIECE_BYTES = 256;

/**
 * Whether a body comes in more pieces than anybody sends: each costs time and
 * memory, however small it is, so that a few megabytes would take a minute.
 */
export function isShredded(pieces: number, bytes: number): boolean {
  return pieces > MAX_SMALL_PIECES + bytes / PIECE_BYTES;
}

async function readBounded(
  body: ReadableStream<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return concat(chunks, size);
      size += value.length;
      if (size > maxBytes) throw new BodyError("too large");
      chunks.push(value);
      if (isShredded(chunks.length, size)) throw new BodyError("too large");
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error instanceof BodyError
      ? error
      : new BodyError("cut off", { cause: error });
  }
}

/** The chunks as one array; the only chunk itself where there is one. */
export function concat(
  chunks: readonly Uint8Array[],
  size: number,
): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
