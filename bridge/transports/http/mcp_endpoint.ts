/**
 * `/mcp`: one JSON-RPC message in, one answer out, nothing kept in between.
 *
 * Source: MCP 2025-11-25, basic/transports, "Streamable HTTP"; PRODUCT decisions
 * D1, D2 and D4.
 */
import type { JsonValue } from "../../../schema/json.ts";
import { refuseOtherTenant } from "../../calls/tenant.ts";
import { BridgeError } from "../../errors.ts";
import type { Authenticator, Logger } from "../../ports.ts";
import type { Principal } from "../../types.ts";
import type { Admission, Answer } from "../../wire/admission.ts";
import { decodeMessage, idOfFault } from "../../wire/decode_message.ts";
import { encodeAnswer } from "../../wire/encode_message.ts";
import { errorAnswer } from "../../wire/encode_error.ts";
import { PROTOCOL_VERSION } from "../../wire/initialize.ts";
import { isObject, isRequestId, type RequestId } from "../../wire/json_rpc.ts";
import { logRefusal } from "../../wire/log_refusal.ts";
import type { Protocol } from "../../wire/protocol.ts";
import { traceIdOf } from "../../wire/trace_id.ts";
import { type SetAlarm, timerAlarm } from "./alarms.ts";
import { bearerToken, challenge } from "./bearer.ts";
import { type BodyLimits, judgeBodyHead, readBody } from "./body.ts";
import type { HttpContext } from "./context.ts";
import { openEventStream, STREAM_HEADERS } from "./event_stream.ts";
import type { Metadata } from "./metadata.ts";
import {
  emptyReply,
  type HeaderRecord,
  jsonReply,
  plainReply,
  refusalReply,
  retryAfter,
  statusOf,
} from "./replies.ts";
import { RequestNotices } from "./request_notices.ts";

/** What {@link createMcpEndpoint} stands on. */
export interface McpEndpointOptions extends BodyLimits {
  readonly protocol: Protocol;
  readonly authenticator: Authenticator;
  readonly metadata: Metadata;
  readonly scopes: readonly string[];
  readonly log: Logger;
  /** Aborts when the server stops for good. */
  readonly signal: AbortSignal;
  readonly maxJsonDepth: number;
  /** After this much silence a call's answer becomes a stream, so that no proxy gives up on it. */
  readonly streamAfterMs: number;
  readonly keepAliveMs: number;
}

type Call = Extract<Admission, { kind: "call" }>;

/** Creates the endpoint. It never rejects. */
export function createMcpEndpoint(
  options: McpEndpointOptions,
): (context: HttpContext) => Promise<Response> {
  const endpoint = new McpEndpoint(options);
  return (context) => endpoint.answer(context);
}

class McpEndpoint {
  readonly #options: McpEndpointOptions;

  constructor(options: McpEndpointOptions) {
    this.#options = options;
  }

  async answer(context: HttpContext): Promise<Response> {
    const { request } = context;
    const { authenticator } = this.#options;
    try {
      const token = bearerToken(request.headers);
      const principal = await authenticator.authenticate(token);
      if (request.method !== "POST") return this.#refuseMethod(context);
      judgeBodyHead(request.headers, this.#options);
      const bytes = await readBody(request, this.#options, alarmsOf(context));
      const message = decodeMessage(bytes, {
        maxDepth: this.#options.maxJsonDepth,
      });
      return this.#refuseVersion(context, message) ??
        this.#refuseTenant(context, message, principal) ??
        await this.#admit(context, message, principal);
    } catch (error) {
      return this.#refuse(context, error);
    }
  }

  /** No stream is offered to GET, and there is no session to DELETE. */
  #refuseMethod(context: HttpContext): Response {
    const error = new BridgeError(
      "METHOD_NOT_ALLOWED",
      "This path takes POST only",
    );
    return refusalReply(context, error, {
      log: this.#options.log,
      headers: { allow: "POST, OPTIONS" },
    });
  }

  #refuse(context: HttpContext, thrown: unknown): Response {
    const error = thrown instanceof BridgeError ? thrown : undefined;
    return refusalReply(context, thrown, {
      log: this.#options.log,
      id: idOfFault(thrown),
      headers: {
        ...this.#challenge(context, error),
        ...closeAfter(error),
      },
    });
  }

  #challenge(
    context: HttpContext,
    error: BridgeError | undefined,
    principal?: Principal,
  ): HeaderRecord {
    if (error?.class !== "authz_denied") return {};
    return challenge(error, {
      metadataUrl: this.#options.metadata.urlFor(context.request),
      scopes: this.#options.scopes,
      ...(principal ? { principal } : {}),
    });
  }

  /** PRODUCT decision D1: `initialize` negotiates in its body, all else by the header. */
  #refuseVersion(
    context: HttpContext,
    message: JsonValue,
  ): Response | undefined {
    const version = context.request.headers.get("mcp-protocol-version");
    if (version === null || version === PROTOCOL_VERSION) return undefined;
    const call = isObject(message) ? message : {};
    if (call["method"] === "initialize") return undefined;
    const error = new BridgeError(
      "PROTOCOL_VERSION",
      "The MCP-Protocol-Version header names another revision",
      { data: { supported: [PROTOCOL_VERSION] } },
    );
    return refusalReply(context, error, {
      log: this.#options.log,
      status: 400,
      id: idOf(call["id"]),
    });
  }

  /** After the body, so that the caller is answered under its id. */
  #refuseTenant(
    context: HttpContext,
    message: JsonValue,
    principal: Principal,
  ): Response | undefined {
    try {
      refuseNamedTenants(context.request, principal);
      return undefined;
    } catch (error) {
      return refusalReply(context, error, {
        log: this.#options.log,
        id: isObject(message) ? idOf(message["id"]) : null,
      });
    }
  }

  async #admit(
    context: HttpContext,
    message: JsonValue,
    principal: Principal,
  ): Promise<Response> {
    const notices = new RequestNotices();
    const traceparent = context.request.headers.get("traceparent");
    const admission = await this.#options.protocol.admit(message, {
      transport: "http",
      signal: this.#options.signal,
      authenticate: () => Promise.resolve(principal),
      notify: (method, params) => notices.send(method, params),
      ...(traceparent === null ? {} : { traceparent }),
    });
    switch (admission.kind) {
      case "none":
        return emptyReply(context, 202);
      case "answer":
        return this.#reply(context, admission.answer, principal);
      case "call":
        return await this.#run(context, admission, {
          notices,
          principal,
          id: isObject(message) ? idOf(message["id"]) : null,
        });
    }
  }

  async #run(
    context: HttpContext,
    call: Call,
    { notices, principal, id }: {
      notices: RequestNotices;
      principal: Principal;
      id: RequestId | null;
    },
  ): Promise<Response> {
    const running = call.run().then(
      (answer) => answer ?? this.#fail(context, id, stopping()),
      // The protocol does not reject; if it ever does, its caller still gets an answer.
      (error) => this.#fail(context, id, error),
    );
    if (!takesEvents(context.request)) {
      return this.#reply(context, await running, principal);
    }
    if (!call.wantsProgress) {
      const outcome = await notices.firstOf(
        running,
        this.#options.streamAfterMs,
        alarmsOf(context),
      );
      if (outcome !== "stream") {
        return this.#reply(context, outcome.answer, principal);
      }
    }
    return this.#stream(context, running, notices);
  }

  #fail(
    { request }: HttpContext,
    id: RequestId | null,
    error: unknown,
  ): Answer {
    const traceId = traceIdOf(request.headers.get("traceparent") ?? undefined);
    logRefusal(this.#options.log, error, traceId);
    return errorAnswer(error, { id, traceId });
  }

  #reply(
    context: HttpContext,
    answer: Answer,
    principal: Principal,
  ): Response {
    const reply = this.#encode(context, answer, principal);
    answer.afterwards?.();
    return reply;
  }

  #encode(
    context: HttpContext,
    answer: Answer,
    principal: Principal,
  ): Response {
    const { error } = answer;
    const text = encodeAnswer(answer);
    if (error === undefined) {
      const native = !context.request.headers.has("origin");
      return native ? plainReply(text) : jsonReply(context, text);
    }
    return jsonReply(context, text, {
      status: statusOf(error),
      headers: {
        ...retryAfter(error),
        ...this.#challenge(context, error, principal),
      },
    });
  }

  #stream(
    context: HttpContext,
    running: Promise<Answer>,
    notices: RequestNotices,
  ): Response {
    const stream = openEventStream(this.#options.keepAliveMs);
    context.info.keepBusy?.(stream.closed);
    notices.attach(stream);
    running.then((answer) => {
      stream.finish(encodeAnswer(answer));
      answer.afterwards?.();
    });
    return new Response(stream.body, {
      headers: { ...STREAM_HEADERS, ...context.commonHeaders },
    });
  }
}

/** A call that resolves without an answer was ended with the server: no HTTP caller can cancel one. */
function stopping(): BridgeError {
  return new BridgeError("SHUTTING_DOWN", "The server is stopping");
}

/** After these the rest of the body is still on its way, and nobody wants it. */
function closeAfter(error: BridgeError | undefined): HeaderRecord {
  const cutShort = error?.code === "BODY_TOO_LARGE" ||
    error?.code === "BODY_TIMEOUT";
  return cutShort ? { connection: "close" } : {};
}

function alarmsOf({ info }: HttpContext): SetAlarm {
  return info.setAlarm ?? timerAlarm;
}

function takesEvents(request: Request): boolean {
  return request.headers.get("accept")?.includes("text/event-stream") ?? false;
}

function idOf(id: JsonValue | undefined): RequestId | null {
  return isRequestId(id) ? id : null;
}

/** A tenant beside the token is either the same one, or an attack or a mistake. */
function refuseNamedTenants(request: Request, principal: Principal): void {
  const named = request.headers.get("x-tenant-id");
  if (named !== null) refuseOtherTenant(principal, named);
  const query = request.url.indexOf("?");
  if (query < 0) return;
  const parameters = new URLSearchParams(request.url.slice(query));
  for (const name of ["tenant", "tenant_id", "tenantId"]) {
    for (const value of parameters.getAll(name)) {
      refuseOtherTenant(principal, value);
    }
  }
}
