/**
 * HTTP to an upstream of ours: one deadline over connection, headers and body,
 * no redirects, a bounded body, repeats of safe calls only, and every way to
 * fail as a refusal that holds nothing of what the upstream said.
 */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import type { BridgeError } from "../../errors.ts";
import type { Clock, Logger, Span } from "../../ports.ts";
import { BodyError, discard, readBoundedText } from "./bounded_body.ts";
import { abortError, delay, startDeadline } from "./deadline.ts";
import {
  type Endpoint,
  parseEndpoint,
  type Query,
  urlUnder,
} from "./endpoint.ts";
import {
  faultOfAnswer,
  faultOfBody,
  faultOfNetwork,
  faultOfStatus,
  notConfigured,
  RestFault,
  type RestNames,
} from "./rest_fault.ts";
import { parseRetryAfter } from "./retry_after.ts";
import { checkDepth, readShape } from "./shape.ts";

/** What sends a request: the network, or a service in this process. */
export type Fetch = (request: Request) => Promise<Response>;

/** The bridge's own credential, read for each request so that it can rotate. */
export type Credential = () => string | undefined;

/** What {@link RestClient} needs. */
export interface RestClientOptions {
  readonly names: RestNames;
  readonly endpoint: string | undefined;
  readonly token?: Credential;
  readonly fetch?: Fetch;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One request. */
export interface RestRequest {
  readonly method: "GET" | "POST";
  /** Under the endpoint, segments encoded. */
  readonly path: string;
  /** The path with its variable parts named, for the span. */
  readonly template?: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  /** Whether doing it twice does nothing more. */
  readonly repeatable?: boolean;
  /** What statuses mean to this request that mean nothing to others. */
  readonly refusals?: Readonly<Record<number, () => BridgeError>>;
}

/** What a request is told by its caller. */
export interface RestCall {
  readonly span: Span;
  readonly signal: AbortSignal;
}

const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;

/** A client of one upstream. Creation does no I/O. */
export class RestClient {
  readonly #options: RestClientOptions;
  readonly #endpoint: Endpoint;

  constructor(options: RestClientOptions) {
    this.#options = options;
    this.#endpoint = parseEndpoint(options.endpoint);
  }

  /** What is wrong with the configuration, if anything. */
  get problem(): string | undefined {
    const { endpointSetting } = this.#options.names;
    return this.#endpoint.ok
      ? undefined
      : `${endpointSetting} ${this.#endpoint.problem}`;
  }

  /**
   * Sends the request and reads its JSON answer.
   *
   * @param timeoutMs Over everything: connections, headers, bodies, repeats.
   * @throws {BridgeError} The request's own refusals, `UPSTREAM_UNAVAILABLE`,
   * `UPSTREAM_TIMEOUT`, `UPSTREAM_NOT_CONFIGURED`.
   */
  async json(
    request: RestRequest,
    call: RestCall & { readonly timeoutMs: number },
  ): Promise<JsonValue> {
    const deadline = startDeadline(call.signal, call.timeoutMs);
    const endsAt = performance.now() + call.timeoutMs;
    try {
      const bounded = { span: call.span, signal: deadline.signal };
      return await this.#repeat(request, { ...bounded, endsAt }, async () => {
        const response = await this.#attempt(request, bounded);
        return await this.#readJson(response);
      });
    } catch (error) {
      throw this.#refusal(error, deadline.signal);
    } finally {
      deadline.end();
    }
  }

  /**
   * Sends the request once and gives the response with its body unread. The
   * caller's signal ends the body too.
   *
   * @throws {BridgeError} As {@link json}.
   */
  async open(request: RestRequest, call: RestCall): Promise<Response> {
    try {
      return await this.#attempt(request, call);
    } catch (error) {
      throw this.#refusal(error, call.signal);
    }
  }

  /** The status of any answer at all, for readiness. @throws {BridgeError} Where there is none. */
  async probe(path: string, call: RestCall): Promise<number> {
    try {
      const response = await this.#send({ method: "GET", path }, call);
      discard(response);
      return response.status;
    } catch (error) {
      throw this.#refusal(error, call.signal);
    }
  }

  async #repeat<T>(
    request: RestRequest,
    call: RestCall & { readonly endsAt: number },
    attempt: () => Promise<T>,
  ): Promise<T> {
    for (let count = 1;; count++) {
      try {
        return await attempt();
      } catch (error) {
        if (call.signal.aborted || !(error instanceof RestFault)) throw error;
        this.#logFault(error, count, call.span);
        const pauseMs = pauseAfter(error, count);
        const futile = request.repeatable !== true || !error.repeatable ||
          count === MAX_ATTEMPTS || performance.now() + pauseMs >= call.endsAt;
        if (futile) throw error;
        await delay(pauseMs, call.signal);
      }
    }
  }

  async #attempt(request: RestRequest, call: RestCall): Promise<Response> {
    const response = await this.#send(request, call);
    const { status } = response;
    call.span.set({ "http.response.status_code": status });
    if (status >= 200 && status < 300) return response;
    discard(response);
    const refuse = request.refusals?.[status];
    if (refuse !== undefined) {
      throw new RestFault(`status ${status}`, false, refuse());
    }
    const retryAfter = parseRetryAfter(
      response.headers.get("retry-after"),
      this.#options.clock.now(),
    );
    throw faultOfStatus(this.#options.names, status, retryAfter);
  }

  async #send(request: RestRequest, call: RestCall): Promise<Response> {
    const { names } = this.#options;
    if (!this.#endpoint.ok) throw notConfigured(names, this.#endpoint.problem);
    const url = urlUnder(this.#endpoint.base, request.path, request.query);
    call.span.set(requestAttributes(request, url));
    const message = new Request(url, {
      method: request.method,
      headers: this.#headers(request, call.span),
      redirect: "manual",
      signal: call.signal,
      ...(request.body === undefined
        ? {}
        : { body: JSON.stringify(request.body) }),
    });
    try {
      return await (this.#options.fetch ?? fetch)(message);
    } catch (error) {
      throw call.signal.aborted ? error : faultOfNetwork(names, error);
    }
  }

  #headers(request: RestRequest, span: Span): Headers {
    const headers = new Headers({
      accept: "application/json",
      ...request.headers,
      traceparent: span.traceparent,
    });
    if (request.body !== undefined) {
      headers.set("content-type", "application/json");
    }
    const token = this.#options.token?.();
    if (token) headers.set("authorization", `Bearer ${token}`);
    return headers;
  }

  async #readJson(response: Response): Promise<JsonValue> {
    const { names, maxBytes } = this.#options;
    const text = await readBoundedText(response, maxBytes)
      .catch((error) => {
        throw error instanceof BodyError ? faultOfBody(names, error) : error;
      });
    if (text.trim() === "") throw faultOfAnswer(names, "an empty");
    if (/html/i.test(response.headers.get("content-type") ?? "")) {
      throw faultOfAnswer(names, "an HTML");
    }
    let value: JsonValue;
    try {
      value = JSON.parse(text);
    } catch {
      throw faultOfAnswer(names, "a malformed");
    }
    readShape(names.upstream, () => checkDepth(value, "answer"));
    return value;
  }

  #refusal(error: unknown, signal: AbortSignal): unknown {
    // A body cut off by our own deadline is a time-out, not a broken upstream.
    if (signal.aborted) return abortError(signal, this.#options.names.upstream);
    return error instanceof RestFault ? error.refusal : error;
  }

  #logFault(fault: RestFault, attempt: number, span: Span): void {
    this.#options.log.warn("upstream request failed", {
      upstream: this.#options.names.upstream,
      reason: fault.reason,
      attempt,
      trace_id: span.context.traceId,
    });
  }
}

function requestAttributes(
  request: RestRequest,
  url: URL,
): Record<string, string | number> {
  const defaultPort = url.protocol === "https:" ? 443 : 80;
  return {
    "http.request.method": request.method,
    "server.address": url.hostname,
    "server.port": url.port === "" ? defaultPort : Number(url.port),
    "url.template": request.template ?? request.path,
  };
}

/** Milliseconds until a repeat makes sense, as the upstream asked or by back-off. */
function pauseAfter(fault: RestFault, attempt: number): number {
  const asked = fault.refusal.retryAfterSeconds;
  return asked === undefined
    ? FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random())
    : asked * 1000;
}
