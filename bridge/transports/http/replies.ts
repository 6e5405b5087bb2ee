/** Makes every answer of the transport: one shape of headers, one of refusals. */
import { BRIDGE_ERRORS, type BridgeError } from "../../errors.ts";
import type { Logger } from "../../ports.ts";
import { errorAnswer } from "../../wire/encode_error.ts";
import type { RequestId } from "../../wire/json_rpc.ts";
import { logRefusal } from "../../wire/log_refusal.ts";
import { traceIdOf } from "../../wire/trace_id.ts";
import type { HttpContext } from "./context.ts";

/** Headers by name. */
export type HeaderRecord = Readonly<Record<string, string>>;

/** What {@link jsonReply} may be told. */
export interface JsonReplyOptions {
  readonly status?: number;
  readonly headers?: HeaderRecord;
}

/** Alone it takes the runtime's fast path. */
const JSON_TYPE: HeaderRecord = { "content-type": "application/json" };
const JSON_HEADERS: HeaderRecord = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/** An answer whose body is JSON text. */
export function jsonReply(
  context: Pick<HttpContext, "commonHeaders">,
  text: string,
  { status = 200, headers }: JsonReplyOptions = {},
): Response {
  return new Response(text, {
    status,
    headers: { ...JSON_HEADERS, ...context.commonHeaders, ...headers },
  });
}

/** The answer to a native client's call: what {@link jsonReply} makes, without headers for browsers. */
export function plainReply(text: string): Response {
  return new Response(text, { headers: JSON_TYPE });
}

/** An answer without a body. */
export function emptyReply(
  context: Pick<HttpContext, "commonHeaders">,
  status: number,
  headers?: HeaderRecord,
): Response {
  return new Response(null, {
    status,
    headers: {
      "cache-control": "no-store",
      ...context.commonHeaders,
      ...headers,
    },
  });
}

/** What {@link refusalReply} may be told. */
export interface RefusalOptions {
  readonly log: Logger;
  readonly id?: RequestId | null;
  readonly headers?: HeaderRecord;
  /** Instead of the error's own (PRODUCT decision D2). */
  readonly status?: number;
}

/** A refusal of the transport itself, as a JSON-RPC error under a trace id. */
export function refusalReply(
  context: Pick<HttpContext, "commonHeaders" | "request">,
  thrown: unknown,
  options: RefusalOptions,
): Response {
  const { request } = context;
  const traceId = traceIdOf(request.headers.get("traceparent") ?? undefined);
  logRefusal(options.log, thrown, traceId);
  const { response, error } = errorAnswer(thrown, {
    id: options.id ?? null,
    traceId,
  });
  return jsonReply(context, JSON.stringify(response), {
    status: options.status ?? statusOf(error),
    headers: { ...retryAfter(error), ...options.headers },
  });
}

/** The status of an error (PRODUCT decision D2); a bug's is that of `INTERNAL`. */
export function statusOf(error: BridgeError | undefined): number {
  return BRIDGE_ERRORS[error?.code ?? "INTERNAL"].httpStatus;
}

/** `Retry-After`, where the error knows when a repeat makes sense or its status calls for one. */
export function retryAfter(error: BridgeError | undefined): HeaderRecord {
  if (error === undefined) return {};
  const status = statusOf(error);
  const seconds = error.retryAfterSeconds ??
    (status === 429 || status === 503 ? 1 : undefined);
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}
