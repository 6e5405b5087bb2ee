/** LISTEN on a connection of its own, re-established for as long as it is wanted. */
import type { Logger } from "../ports.ts";
import { createClient, type PostgresClient } from "./postgres_client.ts";
import type { PostgresAddress } from "./postgres_url.ts";
import { createAlarm, within } from "./timing.ts";

/** What a listener is told. */
export interface ListenerOptions {
  readonly address: PostgresAddress;
  readonly connectTimeoutMs: number;
  readonly logger: Logger;
}

interface Subscription {
  readonly channel: string;
  readonly onNotify: (payload: string) => void;
  readonly onReady: (() => void) | undefined;
}

/** Hears what NOTIFY says on any number of channels. */
export interface PostgresListener {
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onReady?: () => void,
  ): Promise<{ stop(): Promise<void> }>;
  close(): Promise<void>;
}

// A connection whose peer vanished says nothing: ask it now and then.
const PROBE_EVERY_MS = 15_000;
const RETRY_FIRST_MS = 100;
const RETRY_LAST_MS = 1000;

/** Makes a listener; it connects with the first subscription. */
export function createListener(options: ListenerOptions): PostgresListener {
  const subscriptions = new Set<Subscription>();
  const alarm = createAlarm();
  // Those that were told that the present connection listens for them.
  let announced = new Set<Subscription>();
  let client: PostgresClient | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  function hear(channel: string, payload: string): void {
    for (const one of subscriptions) {
      if (one.channel === channel) one.onNotify(payload);
    }
  }

  /** Until the connection is lost or the listener is closed. */
  async function session(): Promise<void> {
    let lost = false;
    const mine = await createClient({
      address: options.address,
      connectTimeoutMs: options.connectTimeoutMs,
      onNotify: hear,
      onClose() {
        lost = true;
        alarm.ring();
      },
    });
    client = mine;
    try {
      const heard = new Set<string>();
      while (!lost && !closed) {
        for (const one of subscriptions) {
          if (heard.has(one.channel)) continue;
          await within(
            mine.sql.unsafe(`listen ${quoted(one.channel)}`),
            options.connectTimeoutMs,
          );
          heard.add(one.channel);
        }
        for (const one of [...subscriptions]) {
          if (!announced.has(one)) {
            announced.add(one);
            one.onReady?.();
          }
        }
        await alarm.wait(PROBE_EVERY_MS);
        if (!lost && !closed) {
          await within(
            mine.sql.unsafe("select 1"),
            options.connectTimeoutMs,
          );
        }
      }
    } finally {
      client = undefined;
      await mine.end(0);
    }
  }

  async function run(): Promise<void> {
    for (let wait = RETRY_FIRST_MS; !closed;) {
      announced = new Set();
      const startedAt = performance.now();
      try {
        await session();
      } catch {
        options.logger.debug("store.listen_lost");
      }
      wait = performance.now() - startedAt > PROBE_EVERY_MS
        ? RETRY_FIRST_MS
        : Math.min(wait * 2, RETRY_LAST_MS);
      if (!closed) await alarm.wait(wait);
    }
  }

  return {
    listen(channel, onNotify, onReady) {
      const subscription = { channel, onNotify, onReady };
      subscriptions.add(subscription);
      running ??= run();
      alarm.ring();
      return Promise.resolve({
        stop() {
          subscriptions.delete(subscription);
          return Promise.resolve();
        },
      });
    },
    async close() {
      closed = true;
      subscriptions.clear();
      alarm.ring();
      await client?.end(0);
      await running;
    },
  };
}

function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
