/** The HTTP transport on a real port, with real tokens, over the protocol on fakes. */
import { createAuthenticator } from "../../../bridge/auth/authenticator.ts";
import { createRemoteKeys } from "../../../bridge/auth/jwks.ts";
import {
  createHttpHandler,
  type HttpHandler,
  type HttpHandlerOptions,
} from "../../../bridge/transports/http/handler.ts";
import {
  type HttpServer,
  serveHttp,
  type ServeHttpOptions,
} from "../../../bridge/transports/http/serve.ts";
import { ALL_SCOPES } from "../../../schema/tools.ts";
import { Harness, type HarnessOptions } from "../../support/bridge_harness.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import {
  type FakeJwks,
  fakeJwks,
  makeSigningKey,
  NOW_MS,
  type SigningKey,
  signToken,
  TEST_ISSUER,
} from "../../support/tokens.ts";

/** The key of every test's issuer: making one takes a while. */
export const ISSUER_KEY: SigningKey = await makeSigningKey("k1");

/** A token with every scope, for most tests. */
export const TOKEN: string = await tokenWith();

/** A good token with some claims changed. */
export function tokenWith(
  claims: Record<string, unknown> = {},
): Promise<string> {
  return signToken(ISSUER_KEY, {
    claims: { scope: ALL_SCOPES.join(" "), ...claims },
  });
}

/** What a test may set. */
export interface BridgeOptions {
  readonly harness?: HarnessOptions;
  readonly handler?: Partial<HttpHandlerOptions>;
  readonly limits?: ServeHttpOptions["limits"];
}

/** A running bridge. */
export interface Bridge {
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer;
  readonly handler: HttpHandler;
  readonly harness: Harness;
  readonly log: FakeLogger;
  readonly jwks: FakeJwks;
  /** Starts the drain. */
  stop(): void;
  /** POSTs a message with the token of {@link TOKEN}. */
  post(message: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** A handler with what it stands on. */
export type MadeHandler = Pick<Bridge, "handler" | "harness" | "log" | "jwks">;

/** Makes the handler alone. */
export function makeHandler(
  options: BridgeOptions = {},
  hard?: AbortSignal,
): MadeHandler {
  const harness = new Harness(options.harness ?? {});
  const jwks = fakeJwks([ISSUER_KEY.publicJwk]);
  const clock = { now: () => NOW_MS };
  const log = new FakeLogger();
  const handler = createHttpHandler({
    protocol: harness.protocol,
    authenticator: createAuthenticator({
      issuer: TEST_ISSUER,
      pluginId: "cyberos",
      resourceUrls: ["https://bridge.test/mcp"],
      clock,
      keys: createRemoteKeys({
        url: `${TEST_ISSUER}/jwks`,
        clock,
        fetch: jwks.fetch,
      }),
    }),
    readiness: () => Promise.resolve([]),
    clock: { now: () => Date.now() },
    log,
    signal: hard ?? new AbortController().signal,
    scopes: ALL_SCOPES,
    authorizationServers: [TEST_ISSUER],
    ...options.handler,
  });
  return { harness, jwks, log, handler };
}

/** Runs a bridge on a free port for the length of a test. */
export async function withBridge(
  options: BridgeOptions,
  test: (bridge: Bridge) => Promise<void>,
): Promise<void> {
  const hard = new AbortController();
  const soft = new AbortController();
  const made = makeHandler(options, hard.signal);
  const server = serveHttp({
    listen: { hostname: "127.0.0.1", port: 0 },
    handler: made.handler,
    signal: soft.signal,
    log: made.log,
    limits: { drainTimeoutMs: 2_000, ...options.limits },
    onDrained: () => hard.abort(),
  });
  const url = `http://127.0.0.1:${server.port}`;
  try {
    await test({
      ...made,
      url,
      port: server.port,
      server,
      stop: () => soft.abort(),
      post: (message, headers) =>
        fetch(`${url}/mcp`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${TOKEN}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            ...headers,
          },
          body: typeof message === "string" ? message : JSON.stringify(message),
        }),
    });
  } finally {
    soft.abort();
    await server.finished;
  }
}

/** A request of a tool, as a message. */
export function toolCall(
  name: string,
  args: unknown = {},
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name, arguments: args, ...more },
  };
}

/** `ping`, the smallest request. */
export const PING: { jsonrpc: string; id: number; method: string } = {
  jsonrpc: "2.0",
  id: 1,
  method: "ping",
};

/** Raw bytes to the port; gives everything that comes back until the end or the time is over. */
export async function sendRaw(
  port: number,
  text: string | Uint8Array,
  timeoutMs = 1_000,
): Promise<string> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const bytes = typeof text === "string"
    ? Uint8Array.from(text, (unit) => unit.charCodeAt(0))
    : text;
  const timer = setTimeout(() => connection.close(), timeoutMs);
  let answer = "";
  try {
    for (let at = 0; at < bytes.length;) {
      at += await connection.write(bytes.subarray(at));
    }
    const buffer = new Uint8Array(65_536);
    for (;;) {
      const count = await connection.read(buffer);
      if (count === null) break;
      answer += new TextDecoder("latin1").decode(buffer.subarray(0, count));
      if (isWhole(answer)) break;
    }
  } catch {
    // Closed by either side: what has come is the answer.
  } finally {
    clearTimeout(timer);
    try {
      connection.close();
    } catch {
      // The timer was faster.
    }
  }
  return answer;
}

function isWhole(answer: string): boolean {
  const head = answer.indexOf("\r\n\r\n");
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1];
  return head > 0 && length !== undefined &&
    answer.length >= head + 4 + Number(length);
}

/** A raw POST to `/mcp` with the good token, unless headers say otherwise. */
export function rawPost(
  port: number,
  headers: readonly string[],
  body: string = JSON.stringify(PING),
): Promise<string> {
  const lines = [
    "POST /mcp HTTP/1.1",
    ...headers,
    ...(headers.some((line) => /^host:/i.test(line))
      ? []
      : [`Host: 127.0.0.1:${port}`]),
    ...(headers.some((line) => /^authorization:/i.test(line))
      ? []
      : [`Authorization: Bearer ${TOKEN}`]),
    ...(headers.some((line) => /^content-type:/i.test(line))
      ? []
      : ["Content-Type: application/json"]),
    `Content-Length: ${body.length}`,
  ];
  return sendRaw(port, `${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** Status of a raw answer. */
export function statusOf(answer: string): number {
  return Number(answer.slice(9, 12));
}
