/** The audit memory over its REST contract. */
import type { JsonValue } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import type {
  AuditFilter,
  Clock,
  Logger,
  Memory,
  Span,
  Telemetry,
  UpstreamContext,
} from "../../ports.ts";
import type { AuditRow, DependencyStatus } from "../../types.ts";
import { isOutage, Readiness } from "../common/readiness.ts";
import {
  type Credential,
  type Fetch,
  RestClient,
} from "../common/rest_client.ts";
import {
  asCount,
  asObject,
  asOptionalText,
  readShape,
} from "../common/shape.ts";
import { traced } from "../common/traced.ts";
import { headerKey } from "./idempotency_key.ts";
import { readPage } from "./page.ts";

/** What {@link createMemory} needs. */
export interface MemoryOptions {
  /** `MEMORY_ENDPOINT`. */
  readonly endpoint: string | undefined;
  /** The bridge's own service credential; never a caller's token. */
  readonly token?: Credential;
  /** What sends requests; by default the network. */
  readonly fetch?: Fetch;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  readonly clock: Clock;
  /** Over a whole call, repeats included; 5,000 by default. */
  readonly timeoutMs?: number;
  /** What an answer may weigh; 4 MiB by default. */
  readonly maxBytes?: number;
}

const UPSTREAM = "The audit memory";
const PATH = "/v1/audit";
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Creates the client. Nothing is sent before the first call.
 *
 * Source: PRODUCT "Upstream contracts"; TASK-PLUGIN-002 §10 "memory HTTP times out".
 */
export function createMemory(options: MemoryOptions): Memory {
  return new RestMemory(options);
}

class RestMemory implements Memory {
  readonly #options: MemoryOptions;
  readonly #client: RestClient;
  readonly #readiness: Readiness;

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#client = new RestClient({
      names: {
        upstream: UPSTREAM,
        endpointSetting: "MEMORY_ENDPOINT",
        tokenSetting: "CYBEROS_MEMORY_TOKEN",
      },
      endpoint: options.endpoint,
      ...(options.token === undefined ? {} : { token: options.token }),
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
      maxBytes: options.maxBytes ?? MAX_BYTES,
      clock: options.clock,
      log: options.log,
    });
    this.#readiness = new Readiness({
      name: "memory",
      freshMs: 10_000,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      probe: (signal) => this.#probe(signal),
    });
  }

  readAudit(
    filter: AuditFilter,
    context: UpstreamContext,
  ): Promise<
    { readonly rows: readonly AuditRow[]; readonly nextSeq: number | null }
  > {
    return this.#traced("memory.read_audit", context, async (span) => {
      const answer = await this.#client.json({
        method: "GET",
        path: PATH,
        query: {
          tenant_id: context.principal.tenantId,
          actor: filter.actor,
          kind: filter.kind,
          since_seq: filter.sinceSeq,
          limit: filter.limit,
        },
        repeatable: true,
        refusals: READ_REFUSALS,
      }, this.#call(span, context));
      return readPage(answer, {
        upstream: UPSTREAM,
        tenantId: context.principal.tenantId,
        limit: filter.limit,
        onForeignRow: () =>
          this.#options.log.error("memory gave a row of another tenant", {
            trace_id: span.context.traceId,
          }),
      });
    });
  }

  appendAudit(
    row: Parameters<Memory["appendAudit"]>[0],
    context: UpstreamContext,
  ): Promise<{ readonly seq: number; readonly recordedAt?: string }> {
    return this.#traced("memory.append_audit", context, async (span) => {
      const answer = await this.#client.json({
        method: "POST",
        path: PATH,
        headers: { "idempotency-key": await headerKey(row.idempotencyKey) },
        body: {
          kind: row.kind,
          actor_id: context.principal.subject,
          tenant_id: context.principal.tenantId,
          body: row.body,
        },
        // The key makes a second arrival of the same row harmless.
        repeatable: true,
        refusals: APPEND_REFUSALS,
      }, this.#call(span, context));
      return readShape(UPSTREAM, () => readReceipt(answer));
    });
  }

  status(signal: AbortSignal): Promise<DependencyStatus> {
    return this.#readiness.status(signal);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #traced<T>(
    name: string,
    context: UpstreamContext,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    return traced(
      this.#options.telemetry,
      context,
      name,
      { "cyberos.upstream": "memory" },
      work,
    ).catch((error) => {
      if (isOutage(error)) this.#readiness.doubt();
      throw error;
    });
  }

  #call(span: Span, context: UpstreamContext) {
    const timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS;
    return { span, signal: context.signal, timeoutMs };
  }

  async #probe(signal: AbortSignal): Promise<DependencyStatus> {
    const name = "memory";
    const { problem } = this.#client;
    if (problem !== undefined) {
      return { name, state: "not configured", detail: problem };
    }
    const span = this.#options.telemetry.startSpan("memory.probe", {
      kind: "client",
    });
    try {
      const status = await this.#client.probe(`${PATH}?limit=1`, {
        span,
        signal,
      });
      span.end();
      return judge(name, status);
    } catch (error) {
      span.end("upstream_unavailable");
      throw error;
    }
  }
}

// Without a tenant the service may well refuse the probe: any answer but these shows that it lives.
function judge(name: string, status: number): DependencyStatus {
  if (status === 401 || status === 403) {
    return {
      name,
      state: "down",
      detail: "refuses the bridge's credential: check CYBEROS_MEMORY_TOKEN",
    };
  }
  if (status >= 300 && status < 400) {
    return {
      name,
      state: "down",
      detail: "redirects: set MEMORY_ENDPOINT to the final address",
    };
  }
  return status >= 500 || status === 429
    ? { name, state: "down", detail: "answers with errors" }
    : { name, state: "ok" };
}

function readReceipt(
  answer: JsonValue,
): { readonly seq: number; readonly recordedAt?: string } {
  const receipt = asObject(answer, "answer");
  const recordedAt = asOptionalText(
    receipt["recorded_at"],
    "answer/recorded_at",
    64,
  );
  return {
    seq: asCount(receipt["seq"], "answer/seq"),
    ...(recordedAt === undefined ? {} : { recordedAt }),
  };
}

// Whatever the service says, a caller hears these words: its own may quote rows (clause 13).
function filterRefused(): BridgeError {
  return new BridgeError(
    "ARGUMENTS_INVALID",
    "The audit memory does not accept this filter",
    { hint: "Check actor, kind, since_seq and limit." },
  );
}

const READ_REFUSALS = {
  400: filterRefused,
  404: () =>
    new BridgeError("NOT_FOUND", "The audit memory has no such rows", {
      hint:
        "Check actor, kind and since_seq. If every read says so, the operator must check MEMORY_ENDPOINT.",
    }),
  422: filterRefused,
} as const;

function rowRefused(): BridgeError {
  return new BridgeError(
    "ARGUMENTS_INVALID",
    "The audit memory does not accept this row",
    { hint: "Check kind and body; nothing was appended." },
  );
}

const APPEND_REFUSALS = {
  400: rowRefused,
  409: () =>
    new BridgeError("CONFLICT", "The key was used for another row", {
      hint:
        "Nothing was appended. Use a new key or confirmation for a new row.",
    }),
  413: () =>
    new BridgeError("ARGUMENTS_INVALID", "The row is too large", {
      hint: "Nothing was appended. Give a smaller body.",
    }),
  422: rowRefused,
} as const;
