/**
 * The whole server as one `fetch` handler: for `Deno.serve`, `deno serve`, Deno
 * Deploy and this module's own {@link file://./serve.ts serveHttp}.
 */
import { type Context, Hono } from "hono";
import { BridgeError } from "../../errors.ts";
import type { Authenticator, Clock, Logger } from "../../ports.ts";
import type { Protocol } from "../../wire/protocol.ts";
import { MAX_JSON_DEPTH } from "../../wire/decode_message.ts";
import type { HttpContext, HttpInfo } from "./context.ts";
import {
  answerOptions,
  commonHeaders,
  judgeHead,
  judgeHost,
  judgeOrigin,
  pathOf,
  VARY,
} from "./guard.ts";
import { createReadiness, HEALTHY, type Readiness } from "./health.ts";
import { createHostPolicy } from "./host_policy.ts";
import { createMcpEndpoint } from "./mcp_endpoint.ts";
import { createMetadata, type Metadata, WELL_KNOWN } from "./metadata.ts";
import { createOriginPolicy } from "./origin_policy.ts";
import { jsonReply, refusalReply } from "./replies.ts";

/** Bounds of one request; each has a default. */
export interface HttpLimits {
  /** Method, URL and headers. Default 32 KiB. */
  readonly maxHeadBytes?: number;
  /** Default 10 MiB. */
  readonly maxBodyBytes?: number;
  /** How long a body may take to arrive. Default 15 s. */
  readonly bodyTimeoutMs?: number;
  /** Default 64 levels. */
  readonly maxJsonDepth?: number;
  /** After how much silence an answer becomes a stream. Default 10 s. */
  readonly streamAfterMs?: number;
  /** Between comments on a silent stream. Default 15 s. */
  readonly keepAliveMs?: number;
}

/** What {@link createHttpHandler} is made of. */
export interface HttpHandlerOptions {
  readonly protocol: Protocol;
  readonly authenticator: Authenticator;
  readonly readiness: Readiness;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the server stops for good: running calls then end. */
  readonly signal: AbortSignal;
  /** What a login should ask for, and the metadata names. */
  readonly scopes: readonly string[];
  /** Where people sign in; none in embedded mode. */
  readonly authorizationServers: readonly string[];
  /** The public URL of `/mcp`. */
  readonly resourceUrl?: string;
  /** The address listened on, without port: an allowed Host. */
  readonly listenHostname?: string;
  readonly allowedHosts?: readonly string[];
  /** Exact origins or `https://*.example.com`; none by default. */
  readonly corsOrigins?: readonly string[];
  readonly limits?: HttpLimits;
}

/** Answers one request. Never rejects. */
export type HttpHandler = (
  request: Request,
  info?: HttpInfo,
) => Promise<Response>;

interface Bindings {
  Bindings: { readonly context: HttpContext };
}

const PROBES: readonly string[] = ["/healthz", "/readyz"];

/**
 * Creates the handler.
 *
 * @throws {RangeError} For a browser origin that must not be allowed.
 */
export function createHttpHandler(options: HttpHandlerOptions): HttpHandler {
  const { limits = {}, log } = options;
  const origins = createOriginPolicy(options.corsOrigins ?? []);
  const hosts = createHostPolicy(options);
  const app = createRoutes(options, createMetadata({ ...options, hosts }));
  const maxHeadBytes = limits.maxHeadBytes ?? 32_768;
  return async (request, info = {}) => {
    let context: HttpContext = { request, info, commonHeaders: VARY };
    try {
      context = { ...context, commonHeaders: commonHeaders(request, origins) };
      judgeHead(request, maxHeadBytes);
      if (!isProbe(request)) judgeHost(request, hosts);
      judgeOrigin(request, origins);
      if (request.method === "OPTIONS") return answerOptions(context);
      return await app.fetch(request, { context });
    } catch (error) {
      return refusalReply(context, error, { log });
    }
  };
}

/** A balancer probes by address, so that its Host is none of ours. */
function isProbe({ url }: Request): boolean {
  // The path alone: a query that ends like one must not switch the check off.
  return PROBES.includes(pathOf(url));
}

function createRoutes(
  options: HttpHandlerOptions,
  metadata: Metadata,
): Hono<Bindings> {
  const { limits = {}, log } = options;
  const app = new Hono<Bindings>({ strict: false });
  const mcp = createMcpEndpoint({
    ...options,
    metadata,
    maxBodyBytes: limits.maxBodyBytes ?? 10_485_760,
    bodyTimeoutMs: limits.bodyTimeoutMs ?? 15_000,
    maxJsonDepth: limits.maxJsonDepth ?? MAX_JSON_DEPTH,
    streamAfterMs: limits.streamAfterMs ?? 10_000,
    keepAliveMs: limits.keepAliveMs ?? 15_000,
  });
  const readiness = createReadiness(
    options.readiness,
    () => options.clock.now(),
  );
  app.all("/mcp", (c) => mcp(c.env.context));
  app.get("/healthz", (c) => jsonReply(c.env.context, HEALTHY));
  app.get("/readyz", async (c) => {
    const { status, text } = await readiness();
    return jsonReply(c.env.context, text, { status });
  });
  const paths = new Set([WELL_KNOWN, `${WELL_KNOWN}/mcp`]);
  if (metadata.path !== undefined) paths.add(metadata.path);
  for (const path of paths) {
    app.get(path, (c) => describe(c.env.context, metadata));
  }
  for (const path of [...PROBES, ...paths]) {
    app.all(path, (c) => refuse(c, "METHOD_NOT_ALLOWED", log));
  }
  app.notFound((c) => refuse(c, "PATH_UNKNOWN", log));
  app.onError((error, c) => refusalReply(c.env.context, error, { log }));
  return app;
}

function describe(context: HttpContext, metadata: Metadata): Response {
  const document = metadata.documentFor(context.request);
  if (document === undefined) {
    throw new BridgeError(
      "PATH_UNKNOWN",
      "This server does not know its public address",
      { hint: "An operator can set it with --resource-url." },
    );
  }
  return jsonReply(context, document, {
    headers: { "cache-control": "public, max-age=300" },
  });
}

function refuse(
  c: Context<Bindings>,
  code: "METHOD_NOT_ALLOWED" | "PATH_UNKNOWN",
  log: Logger,
): Response {
  const known = code === "METHOD_NOT_ALLOWED";
  const error = new BridgeError(
    code,
    known ? "This path takes GET only" : "There is nothing at this path",
    known ? { hint: "GET this path." } : {},
  );
  return refusalReply(c.env.context, error, {
    log,
    headers: known ? { allow: "GET, HEAD, OPTIONS" } : {},
  });
}
