/**
 * One answer as server-sent events.
 *
 * Source: MCP 2025-11-25, basic/transports; HTML standard, "Server-sent events".
 */
import type { HeaderRecord } from "./replies.ts";

/** Headers of a stream. `X-Accel-Buffering` keeps a proxy from holding it back. */
export const STREAM_HEADERS: HeaderRecord = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-store, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

/** Unread notifications are dropped beyond this, so that a reader who stalls costs no memory. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** A stream that is being written. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves once it is written, or the reader has gone. */
  readonly closed: Promise<void>;
  /** Sends a notification; drops it where the reader does not keep up. */
  notify(text: string): void;
  /** Sends the last message and ends. */
  finish(text: string): void;
}

/**
 * Opens a stream. A comment goes out at once and again after each silence, so
 * that proxies on the way see life.
 *
 * No event has an id: streams cannot be resumed here, and a client that saw one
 * would try.
 */
export function openEventStream(keepAliveMs: number): EventStream {
  const encoder = new TextEncoder();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const write = (text: string) => controller?.enqueue(encoder.encode(text));
  const timer = setInterval(() => {
    if ((controller?.desiredSize ?? 0) > 0) write(": keep-alive\n\n");
  }, keepAliveMs);
  const end = () => {
    clearInterval(timer);
    controller = undefined;
    resolve();
  };
  const body = new ReadableStream<Uint8Array>({
    start(opened) {
      controller = opened;
      write(": open\n\n");
    },
    cancel: end,
  }, { highWaterMark: MAX_UNREAD_BYTES, size: (chunk) => chunk.length });
  return {
    body,
    closed,
    notify(text) {
      if ((controller?.desiredSize ?? 0) > text.length) write(event(text));
    },
    finish(text) {
      const open = controller;
      write(event(text));
      end();
      open?.close();
    },
  };
}

/** JSON text is one line, so that one `data` field holds it. */
function event(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}
