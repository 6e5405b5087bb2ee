/** One JSON message a line, between bridges that share a data folder. */
import type { JsonValue } from "../../schema/json.ts";
import type { SqlRow } from "../ports.ts";
import type { SqlFault } from "./pglite_messages.ts";

/** Changes when the messages do. */
export const LOCAL_PROTOCOL = 1;

/** From a follower to the one that has the database. */
export type LocalRequest =
  | {
    readonly hello: typeof LOCAL_PROTOCOL;
    readonly secret: string;
    /** The newest migration that the follower knows. */
    readonly schema: number;
  }
  | {
    readonly id: number;
    readonly statement: string;
    readonly parameters: readonly JsonValue[];
  }
  | { readonly listen: string };

/** From the one that has the database to a follower. */
export type LocalReply =
  | { readonly welcome: true }
  | { readonly refused: string }
  | { readonly id: number; readonly rows: readonly SqlRow[] }
  | { readonly id: number; readonly error: SqlFault }
  | { readonly channel: string; readonly payload: string };

/** A connection that speaks lines of JSON. */
export interface LineChannel<Out, In> {
  /** Sends in order. Never rejects: a broken connection shows in `messages`. */
  send(message: Out): void;
  /** Until the connection ends. */
  messages(): AsyncGenerator<In, void>;
  close(): void;
}

// The largest message of the bridge, and what JSON in JSON adds to it.
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/**
 * Speaks JSON lines over a connection.
 *
 * @param maxFirstBytes What the first line may have, from a peer that anybody can be.
 */
export function lineChannel<Out, In>(
  connection: Deno.Conn,
  maxFirstBytes: number = MAX_LINE_BYTES,
): LineChannel<Out, In> {
  const encoder = new TextEncoder();
  let sending: Promise<void> = Promise.resolve();
  let closed = false;
  const close = (): void => {
    if (closed) return;
    closed = true;
    try {
      connection.close();
    } catch {
      // Already gone.
    }
  };
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (closed) return;
    try {
      for (let at = 0; at < bytes.length;) {
        at += await connection.write(bytes.subarray(at));
      }
    } catch {
      close();
    }
  };
  return {
    send(message) {
      const bytes = encoder.encode(`${JSON.stringify(message)}\n`);
      sending = sending.then(() => write(bytes));
    },
    messages: () => readLines(connection, close, maxFirstBytes),
    close,
  };
}

async function* readLines<In>(
  connection: Deno.Conn,
  close: () => void,
  maxFirstBytes: number,
): AsyncGenerator<In, void> {
  const decoder = new TextDecoder();
  let maxBytes = maxFirstBytes;
  const buffer = new Uint8Array(65536);
  let parts: Uint8Array[] = [];
  let size = 0;
  try {
    for (
      let n = await connection.read(buffer);
      n !== null;
      n = await connection.read(buffer)
    ) {
      let from = 0;
      for (
        let end = buffer.subarray(0, n).indexOf(10);
        end >= 0;
        end = buffer.subarray(0, n).indexOf(10, from)
      ) {
        parts.push(buffer.slice(from, end));
        const message = JSON.parse(decoder.decode(joined(parts)));
        if (typeof message !== "object" || message === null) return;
        yield message;
        parts = [];
        size = 0;
        maxBytes = MAX_LINE_BYTES;
        from = end + 1;
      }
      if (from < n) parts.push(buffer.slice(from, n));
      size += n - from;
      if (size > maxBytes) return;
    }
  } catch {
    // The other side is gone, or speaks something else.
  } finally {
    close();
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0] as Uint8Array;
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
