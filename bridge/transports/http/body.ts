/** Reads a request's body within bounds of size and time. */
import { BridgeError } from "../../errors.ts";
import type { SetAlarm } from "./alarms.ts";

/** Bounds of a body. */
export interface BodyLimits {
  readonly maxBodyBytes: number;
  /** From the first wait to the last byte. */
  readonly bodyTimeoutMs: number;
}

const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;

/**
 * Judges what the head says of the body. Only JSON is taken: the types that a
 * page can send across sites without a preflight never reach a tool.
 *
 * @throws {BridgeError} `MEDIA_TYPE`, `BODY_TOO_LARGE`.
 */
export function judgeBodyHead(headers: Headers, limits: BodyLimits): void {
  if (!JSON_TYPE.test(headers.get("content-type") ?? "")) {
    throw new BridgeError("MEDIA_TYPE", "The message must be application/json");
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    throw new BridgeError(
      "MEDIA_TYPE",
      "Compressed messages are not taken",
      { hint: "Send the message without Content-Encoding." },
    );
  }
  if (Number(headers.get("content-length") ?? 0) > limits.maxBodyBytes) {
    throw tooLarge(limits.maxBodyBytes);
  }
}

/**
 * Reads the body whole. Reading stops at the limit, whatever the head said.
 *
 * @throws {BridgeError} `BODY_TOO_LARGE`, `BODY_TIMEOUT`, `PARSE_ERROR` for a body that breaks off.
 */
export async function readBody(
  request: Request,
  limits: BodyLimits,
  setAlarm: SetAlarm,
): Promise<Uint8Array> {
  // A declared length is kept by the HTTP parser, so that one read suffices.
  const reading = request.headers.has("content-length")
    ? request.bytes()
    : readChunks(request.body, limits.maxBodyBytes);
  try {
    return await inTime(reading, limits.bodyTimeoutMs, setAlarm);
  } catch (error) {
    throw error instanceof BridgeError ? error : new BridgeError(
      "PARSE_ERROR",
      "The message broke off",
      { cause: error },
    );
  }
}

function inTime<T>(
  work: Promise<T>,
  ms: number,
  setAlarm: SetAlarm,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = setAlarm(
      ms,
      () =>
        reject(
          new BridgeError("BODY_TIMEOUT", "The message did not arrive in time"),
        ),
    );
    work.then(resolve, reject).finally(stop);
  });
}

/**
 * Each piece of a body costs some kilobytes and microseconds, however small it
 * is: a few megabytes in single bytes would hold everybody up for a minute.
 */
const MAX_SMALL_PIECES = 1_024;
const PIECE_BYTES = 1_024;

async function readChunks(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the body: nothing more is read of it.
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
    if (chunks.length > MAX_SMALL_PIECES + size / PIECE_BYTES) {
      throw new BridgeError(
        "BODY_TOO_LARGE",
        "The message comes in too many pieces",
        { hint: "Send the message whole, with Content-Length." },
      );
    }
  }
  return concat(chunks, size);
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function tooLarge(maxBytes: number): BridgeError {
  return new BridgeError(
    "BODY_TOO_LARGE",
    `The message is over ${maxBytes} bytes`,
    { hint: `Send at most ${maxBytes} bytes in one message.` },
  );
}
