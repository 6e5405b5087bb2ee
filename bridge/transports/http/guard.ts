/**
 * What every request passes before anything of it is acted on: size of its
 * head, Host, Origin. A refused preflight ends here too.
 *
 * Source: MCP 2025-11-25, basic/transports, "Security Warning"; Fetch standard,
 * "CORS protocol"; TASK-PLUGIN-002 §1 clause 11.
 */
import { BridgeError } from "../../errors.ts";
import type { HttpContext } from "./context.ts";
import type { HostPolicy } from "./host_policy.ts";
import type { OriginPolicy } from "./origin_policy.ts";
import { emptyReply, type HeaderRecord } from "./replies.ts";

/** What {@link guard} judges by. */
export interface GuardPolicy {
  readonly origins: OriginPolicy;
  readonly hosts: HostPolicy;
  /** For method, URL and headers together. */
  readonly maxHeadBytes: number;
}

/** No shared cache may hand one origin's answer to another. */
export const VARY: HeaderRecord = { vary: "Origin" };
const NONE: HeaderRecord = {};

const EXPOSED =
  "WWW-Authenticate, MCP-Protocol-Version, Retry-After, Mcp-Session-Id, Traceparent";
const PREFLIGHT_HEADERS: HeaderRecord = {
  "access-control-allow-methods": "POST, GET, OPTIONS",
  "access-control-allow-headers":
    "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Session-Id, Last-Event-ID, Traceparent, Tracestate",
  "access-control-max-age": "600",
  vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
};
/** Scheme, authority, path; by text, since what a client sends need be no valid URL. */
const PARTS = /^[a-z]+:\/\/([^/?#]*)([^?#]*)/;
const PREFLIGHT_METHODS = new Set(["POST", "GET", "HEAD", "OPTIONS"]);

/**
 * The headers that every answer to this request carries.
 *
 * None for a native client's POST: no browser reads the answer and no cache may
 * keep it (RFC 9110 §9.3.3), and each header costs the hot path a microsecond.
 */
export function commonHeaders(
  request: Request,
  origins: OriginPolicy,
): HeaderRecord {
  const origin = request.headers.get("origin");
  if (origin === null) return request.method === "POST" ? NONE : VARY;
  if (!origins(origin)) return VARY;
  return {
    ...VARY,
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
  };
}

/** @throws {BridgeError} `HEAD_TOO_LARGE`. */
export function judgeHead(request: Request, maxHeadBytes: number): void {
  let size = request.url.length;
  // A for-of loop takes seven times as long here.
  request.headers.forEach((value, name) => {
    size += name.length + value.length + 4;
  });
  if (size > maxHeadBytes) {
    throw new BridgeError(
      "HEAD_TOO_LARGE",
      `The request's head is over ${maxHeadBytes} bytes`,
    );
  }
}

/** @throws {BridgeError} `ORIGIN_REFUSED`, for a foreign Host. */
export function judgeHost(request: Request, hosts: HostPolicy): void {
  const host = request.headers.get("host");
  // An absolute request target outranks the header (RFC 9112 §3.2.2): both must be ours.
  const named = host === null ? [authorityOf(request.url)] : [
    host,
    authorityOf(request.url),
  ];
  if (named.every((authority) => hosts.allows(authority))) return;
  throw new BridgeError(
    "ORIGIN_REFUSED",
    "The request names a host that this server does not answer for",
    { hint: "An operator can allow the host with --allowed-host." },
  );
}

/** The authority of an absolute URL, also where the URL as a whole is malformed. */
export function authorityOf(url: string): string {
  return PARTS.exec(url)?.[1] ?? "";
}

/** The path of an absolute URL as it was sent: nothing decoded or resolved. */
export function pathOf(url: string): string {
  return PARTS.exec(url)?.[2] ?? "";
}

/** @throws {BridgeError} `ORIGIN_REFUSED`, for a browser origin that is not allowed. */
export function judgeOrigin(request: Request, origins: OriginPolicy): void {
  const origin = request.headers.get("origin");
  // Native clients send none.
  if (origin === null || origins(origin)) return;
  throw new BridgeError(
    "ORIGIN_REFUSED",
    "This browser origin is not allowed to call",
    { hint: "An operator can allow the origin with --cors-origin." },
  );
}

/** Answers an `OPTIONS` request whose origin, if any, is allowed. */
export function answerOptions(context: HttpContext): Response {
  const { headers } = context.request;
  const method = headers.get("access-control-request-method");
  if (headers.get("origin") === null || method === null) {
    return emptyReply(context, 204, { allow: "POST, OPTIONS" });
  }
  if (!PREFLIGHT_METHODS.has(method)) {
    throw new BridgeError(
      "ORIGIN_REFUSED",
      "The preflight asks for a method that no path here has",
      { hint: "POST one JSON-RPC message to /mcp." },
    );
  }
  return emptyReply(context, 204, PREFLIGHT_HEADERS);
}
