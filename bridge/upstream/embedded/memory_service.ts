/**
 * The audit memory of `--embedded`: the REST contract of the real one as a
 * fetch handler over SQL, so that the same client talks to both.
 *
 * `POST /v1/audit`, `GET /v1/audit`, and `GET /v1/audit/verify`, which computes
 * a tenant's chain of hashes again.
 */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import type { Logger, SqlDriver } from "../../ports.ts";
import { BodyError, readBoundedText } from "../common/bounded_body.ts";
import type { Fetch } from "../common/rest_client.ts";

/** What {@link createMemoryService} needs. */
export interface MemoryServiceOptions {
  /** The database, opened on first use. */
  readonly sql: () => Promise<SqlDriver>;
  /** The only credential that is served. */
  readonly token: string;
  readonly log: Logger;
}

const MAX_BODY_BYTES = 256 * 1024;
const MAX_ROWS = 500;
const DEFAULT_ROWS = 50;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const KIND = /^[a-z][a-z0-9_.-]{0,127}$/;

/** A request that is refused with this status. */
class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(readonly status: number) {
    super(`refused with ${status}`);
  }
}

/** Creates the service; nothing is opened before the first request. */
export function createMemoryService(options: MemoryServiceOptions): Fetch {
  return async (request) => {
    try {
      return await serve(request, options);
    } catch (error) {
      return refuse(error, options.log);
    }
  };
}

function serve(
  request: Request,
  options: MemoryServiceOptions,
): Promise<Response> {
  if (request.headers.get("authorization") !== `Bearer ${options.token}`) {
    throw new Refusal(401);
  }
  const url = new URL(request.url);
  const route = `${request.method} ${url.pathname}`;
  if (route === "POST /v1/audit") return append(request, options);
  if (route === "GET /v1/audit") return read(url, options);
  if (route === "GET /v1/audit/verify") return verify(url, options);
  throw new Refusal(404);
}

async function append(
  request: Request,
  options: MemoryServiceOptions,
): Promise<Response> {
  const row = parseRow(await readBoundedText(request, MAX_BODY_BYTES));
  const sql = await options.sql();
  const answer = await call(
    sql,
    "select plugin_host.audit_append($1::uuid, $2::text, $3::text, $4::text::jsonb, $5::text) as answer",
    [
      row.tenantId,
      row.actorId,
      row.kind,
      row.body,
      parseKey(request.headers.get("idempotency-key")),
    ],
  );
  const { outcome, ...receipt } = answer as JsonObject;
  if (outcome === "conflict") throw new Refusal(409);
  return Response.json(receipt, { status: outcome === "created" ? 201 : 200 });
}

async function read(
  url: URL,
  options: MemoryServiceOptions,
): Promise<Response> {
  const query = url.searchParams;
  // Before the filter is looked at: readiness asks without a tenant.
  const sql = await options.sql();
  const answer = await call(
    sql,
    "select plugin_host.audit_read($1::uuid, $2::text, $3::text, $4::bigint, $5::integer) as answer",
    [
      tenantOf(query.get("tenant_id")),
      query.get("actor"),
      query.get("kind"),
      parseWhole(query.get("since_seq"), 0, Number.MAX_SAFE_INTEGER),
      parseWhole(query.get("limit"), DEFAULT_ROWS, MAX_ROWS),
    ],
  );
  return Response.json(answer);
}

async function verify(
  url: URL,
  options: MemoryServiceOptions,
): Promise<Response> {
  const tenant = tenantOf(url.searchParams.get("tenant_id"));
  return Response.json(
    await call(
      await options.sql(),
      "select plugin_host.audit_verify($1::uuid) as answer",
      [tenant],
    ),
  );
}

async function call(
  sql: SqlDriver,
  statement: string,
  parameters: readonly JsonValue[],
): Promise<JsonValue> {
  const [row] = await sql.query(statement, parameters);
  return row?.["answer"] as JsonValue;
}

interface Row {
  readonly tenantId: string;
  readonly actorId: string;
  readonly kind: string;
  /** JSON text. */
  readonly body: string;
}

function parseRow(text: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refusal(422);
  }
  if (typeof value !== "object" || value === null) throw new Refusal(422);
  const { tenant_id, actor_id, kind, body } = value as Record<string, unknown>;
  const valid = typeof actor_id === "string" && isStorable(actor_id) &&
    actor_id.length >= 1 && actor_id.length <= 256 &&
    typeof kind === "string" && KIND.test(kind) &&
    typeof body === "object" && body !== null && !Array.isArray(body);
  if (!valid) throw new Refusal(422);
  const json = JSON.stringify(body);
  // A row is kept for ever: what the database cannot hold is refused, not altered.
  if (/\\u0000|\\ud[89a-f]/i.test(json.replaceAll("\\\\", ""))) {
    throw new Refusal(422);
  }
  return {
    tenantId: tenantOf(typeof tenant_id === "string" ? tenant_id : null),
    actorId: actor_id,
    kind,
    body: json,
  };
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

function tenantOf(text: string | null): string {
  if (text === null || !UUID.test(text)) throw new Refusal(422);
  return text.toLowerCase();
}

function parseKey(key: string | null): string | null {
  if (key !== null && (key.length < 1 || key.length > 256)) {
    throw new Refusal(422);
  }
  return key;
}

function parseWhole(
  text: string | null,
  fallback: number,
  max: number,
): number {
  if (text === null) return fallback;
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || value > max) throw new Refusal(422);
  return value;
}

function refuse(error: unknown, log: Logger): Response {
  if (error instanceof Refusal) {
    return Response.json({ error: "refused" }, { status: error.status });
  }
  if (error instanceof BodyError) {
    const status = error.fault === "too large" ? 413 : 422;
    return Response.json({ error: "refused" }, { status });
  }
  const away = error instanceof BridgeError;
  if (!away) {
    log.error("embedded memory failed", {
      error: error instanceof Error ? error.message : String(error),
    });
  }
  return Response.json({ error: "failed" }, { status: away ? 503 : 500 });
}
