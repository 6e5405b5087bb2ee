/** Listens, serves and stops without cutting answers off. */
import type { Logger } from "../../ports.ts";
import {
  type ConnectionLimits,
  type Connections,
  createConnections,
  findServeConnection,
} from "./connections.ts";
import type { HttpHandler } from "./handler.ts";

/** What {@link serveHttp} is told. */
export interface ServeHttpOptions {
  /** Port 0 takes a free one. */
  readonly listen: { readonly hostname: string; readonly port: number };
  readonly handler: HttpHandler;
  /** Its abort starts the drain: no new connection, answers under way are finished. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly limits?: ConnectionLimits & {
    /** How long answers under way may take after that. Default 10 s. */
    readonly drainTimeoutMs?: number;
  };
  /** Called before connections are cut at the end of the drain. */
  readonly onDrained?: () => void;
}

/** A server that listens. */
export interface HttpServer {
  readonly hostname: string;
  readonly port: number;
  /** How many connections are open; `undefined` where this Deno does not tell. */
  readonly connections: number | undefined;
  /** Resolves when the server has stopped. Never rejects. */
  readonly finished: Promise<void>;
}

const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|::1)$/;

/**
 * Starts listening.
 *
 * @throws {Deno.errors.AddrInUse} And whatever else `Deno.listen` throws.
 */
export function serveHttp(options: ServeHttpOptions): HttpServer {
  const { listen, log } = options;
  if (!LOOPBACK.test(listen.hostname)) {
    log.warn("http.beyond_loopback", {
      hint: "This address is reachable from elsewhere: put TLS in front of it",
    });
  }
  const serve = findServeConnection();
  if (serve === undefined) return serveUnguarded(options);
  const listener = Deno.listen({ ...listen, transport: "tcp" });
  const connections = createConnections(
    serve,
    options.handler,
    options.limits ?? {},
  );
  const accepting = accept(listener, connections, options);
  return {
    hostname: listener.addr.hostname,
    port: listener.addr.port,
    get connections() {
      return connections.size;
    },
    finished: accepting.then(() => drain(connections, options)),
  };
}

/** A moment's rest after an error of the operating system, such as no free file descriptor. */
const ACCEPT_PAUSE_MS = 50;

async function accept(
  listener: Deno.TcpListener,
  connections: Connections,
  { signal, log }: ServeHttpOptions,
): Promise<void> {
  const close = () => listener.close();
  if (signal.aborted) return close();
  signal.addEventListener("abort", close, { once: true });
  while (!signal.aborted) {
    try {
      const connection = await listener.accept();
      connection.setNoDelay(true);
      connections.add(connection);
    } catch (error) {
      if (signal.aborted) break;
      log.warn("http.accept_failed", { error: (error as Error).name });
      await new Promise((resolve) => setTimeout(resolve, ACCEPT_PAUSE_MS));
    }
  }
}

/** How long cut connections may take to be gone. */
const CUT_MS = 250;

async function drain(
  connections: Connections,
  { limits = {}, log, onDrained }: ServeHttpOptions,
): Promise<void> {
  const drained = connections.drain();
  const inTime = await within(limits.drainTimeoutMs ?? 10_000, drained);
  onDrained?.();
  if (inTime) return;
  log.warn("http.drain_cut", { connections: connections.size });
  // The calls have just ended: their last answers say so.
  if (await within(CUT_MS, drained)) return;
  connections.abort();
  // Whoever does not read the last answer is not waited for.
  await within(CUT_MS, drained);
}

/** Waits for the work, at most this long. @returns Whether it ended in time. */
async function within(ms: number, work: Promise<void>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), ms);
  const inTime = await Promise.race([work.then(() => true), promise]);
  clearTimeout(timer);
  return inTime;
}

/** The same on a Deno that cannot serve single connections: without their limits. */
function serveUnguarded(options: ServeHttpOptions): HttpServer {
  options.log.warn("http.unguarded", {
    hint:
      "This Deno cannot close idle and slow connections: put a proxy in front that does",
  });
  const hard = new AbortController();
  const server = Deno.serve({
    ...options.listen,
    signal: hard.signal,
    onListen() {},
  }, (request) => options.handler(request));
  const { promise, resolve } = Promise.withResolvers<void>();
  if (options.signal.aborted) resolve();
  options.signal.addEventListener("abort", () => resolve(), { once: true });
  return {
    hostname: server.addr.hostname,
    port: server.addr.port,
    connections: undefined,
    finished: promise.then(async () => {
      const timer = setTimeout(
        () => hard.abort(),
        options.limits?.drainTimeoutMs ?? 10_000,
      );
      await server.shutdown().catch(() => {});
      clearTimeout(timer);
      options.onDrained?.();
    }),
  };
}
