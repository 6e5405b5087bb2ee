/**
 * Every way in which the bridge refuses, as one typed table.
 *
 * Rows give class, JSON-RPC code and HTTP status; `wire/` and `transports/`
 * translate at their edge and nowhere else.
 *
 * Source: PRODUCT decision D2; TASK-PLUGIN-002 §1 clause 7.
 */
import type { JsonObject, JsonValue } from "../schema/json.ts";

/** The four classes that a host shows differently. */
export type ErrorClass =
  | "input_validation"
  | "authz_denied"
  | "upstream_unavailable"
  | "internal_error";

/** What every refusal of one code has in common. */
export interface ErrorRow {
  /** What the host shows. */
  readonly class: ErrorClass;
  /** JSON-RPC `error.code`. */
  readonly rpcCode: number;
  /** HTTP status; 200 unless the transport itself must say more. */
  readonly httpStatus: number;
  /** Whether the same call can succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** What the person can do, where the thrower gives no better hint. */
  readonly hint: string;
}

function row(
  errorClass: ErrorClass,
  rpcCode: number,
  hint: string,
  more: { readonly httpStatus?: number; readonly retryable?: boolean } = {},
): ErrorRow {
  return {
    class: errorClass,
    rpcCode,
    httpStatus: more.httpStatus ?? 200,
    retryable: more.retryable ?? false,
    hint,
  };
}

/** A stable name for each refusal. */
export type BridgeErrorCode =
  | "PARSE_ERROR"
  | "INVALID_REQUEST"
  | "METHOD_UNKNOWN"
  | "PARAMS_INVALID"
  | "TOOL_UNKNOWN"
  | "ARGUMENTS_INVALID"
  | "NOT_FOUND"
  | "PROTOCOL_VERSION"
  | "NOT_INITIALIZED"
  | "TASK_NOT_FOUND"
  | "TASK_FINISHED"
  | "TASK_NOT_READY"
  | "TASK_UNSUPPORTED"
  | "CONFLICT"
  | "TOKEN_MISSING"
  | "TOKEN_INVALID"
  | "TOKEN_EXPIRED"
  | "SCOPE_MISSING"
  | "TENANT_MISMATCH"
  | "CONFIRMATION_REQUIRED"
  | "ORIGIN_REFUSED"
  | "METHOD_NOT_ALLOWED"
  | "PATH_UNKNOWN"
  | "BODY_TOO_LARGE"
  | "BODY_TIMEOUT"
  | "HEAD_TOO_LARGE"
  | "MEDIA_TYPE"
  | "RATE_LIMITED"
  | "BUSY"
  | "SHUTTING_DOWN"
  | "KEYS_UNAVAILABLE"
  | "UPSTREAM_UNAVAILABLE"
  | "UPSTREAM_NOT_CONFIGURED"
  | "UPSTREAM_TIMEOUT"
  | "STORE_UNAVAILABLE"
  | "TASK_LIMIT"
  | "TASK_TIMEOUT"
  | "TASK_LOST"
  | "TASK_CANCELLED"
  | "INTERNAL";

/** The table of refusals. */
export const BRIDGE_ERRORS: Readonly<Record<BridgeErrorCode, ErrorRow>> = {
  PARSE_ERROR: row(
    "input_validation",
    -32700,
    "Send one UTF-8 JSON-RPC 2.0 message.",
    {
      httpStatus: 400,
    },
  ),
  INVALID_REQUEST: row(
    "input_validation",
    -32600,
    "Send one JSON-RPC 2.0 request object.",
    {
      httpStatus: 400,
    },
  ),
  METHOD_UNKNOWN: row(
    "input_validation",
    -32601,
    "This server speaks MCP 2025-11-25 and offers tools, tasks and logging.",
  ),
  PARAMS_INVALID: row(
    "input_validation",
    -32602,
    "Correct the named fields and call again.",
  ),
  TOOL_UNKNOWN: row(
    "input_validation",
    -32602,
    "Call tools/list for the names of the tools.",
  ),
  ARGUMENTS_INVALID: row(
    "input_validation",
    -32602,
    "Correct the named fields and call again.",
  ),
  NOT_FOUND: row(
    "input_validation",
    -32602,
    "Check the name; the list tools show what exists.",
  ),
  PROTOCOL_VERSION: row(
    "input_validation",
    -32602,
    "Use MCP revision 2025-11-25.",
    {},
  ),
  NOT_INITIALIZED: row("input_validation", -32600, "Send initialize first."),
  TASK_NOT_FOUND: row(
    "input_validation",
    -32602,
    "Check the task id. Finished tasks are kept for their ttl only.",
  ),
  TASK_FINISHED: row(
    "input_validation",
    -32602,
    "The task has already ended; read its result.",
  ),
  TASK_NOT_READY: row(
    "upstream_unavailable",
    -32001,
    "The task still runs; ask again.",
    {
      retryable: true,
    },
  ),
  TASK_UNSUPPORTED: row(
    "input_validation",
    -32601,
    "Call this tool without params.task.",
  ),
  CONFLICT: row(
    "input_validation",
    -32602,
    "The same key was used for another call.",
  ),
  TOKEN_MISSING: row(
    "authz_denied",
    -32000,
    "Sign in to CyberOS: the call carries no token.",
    {
      httpStatus: 401,
    },
  ),
  TOKEN_INVALID: row(
    "authz_denied",
    -32000,
    "Re-authenticate: the token is not valid here.",
    {
      httpStatus: 401,
    },
  ),
  TOKEN_EXPIRED: row(
    "authz_denied",
    -32000,
    "Token expired: re-authenticate.",
    {
      httpStatus: 401,
    },
  ),
  SCOPE_MISSING: row(
    "authz_denied",
    -32000,
    "Re-authorise the plugin with the missing scopes.",
    {
      httpStatus: 403,
    },
  ),
  TENANT_MISMATCH: row(
    "authz_denied",
    -32000,
    "Use a token of the tenant that you name.",
  ),
  CONFIRMATION_REQUIRED: row(
    "authz_denied",
    -32000,
    'The person must confirm this call: the host sets _meta["mcp/sampling/elicit_confirm"] or sends a confirmation token.',
  ),
  ORIGIN_REFUSED: row(
    "authz_denied",
    -32000,
    "An operator can allow this origin or host.",
    {
      httpStatus: 403,
    },
  ),
  METHOD_NOT_ALLOWED: row(
    "input_validation",
    -32600,
    "POST one JSON-RPC message to /mcp.",
    {
      httpStatus: 405,
    },
  ),
  PATH_UNKNOWN: row("input_validation", -32600, "The MCP endpoint is /mcp.", {
    httpStatus: 404,
  }),
  BODY_TOO_LARGE: row("input_validation", -32600, "Send a smaller message.", {
    httpStatus: 413,
  }),
  BODY_TIMEOUT: row(
    "input_validation",
    -32600,
    "Send the whole message without pauses.",
    {
      httpStatus: 408,
      retryable: true,
    },
  ),
  HEAD_TOO_LARGE: row(
    "input_validation",
    -32600,
    "Send fewer or shorter headers.",
    {
      httpStatus: 431,
    },
  ),
  MEDIA_TYPE: row(
    "input_validation",
    -32600,
    "Send Content-Type: application/json in UTF-8.",
    {
      httpStatus: 415,
    },
  ),
  RATE_LIMITED: row(
    "upstream_unavailable",
    -32001,
    "Too many calls: wait and call again.",
    {
      httpStatus: 429,
      retryable: true,
    },
  ),
  BUSY: row(
    "upstream_unavailable",
    -32001,
    "The server is busy: wait and call again.",
    {
      httpStatus: 429,
      retryable: true,
    },
  ),
  SHUTTING_DOWN: row(
    "upstream_unavailable",
    -32001,
    "The server is restarting: call again.",
    {
      httpStatus: 503,
      retryable: true,
    },
  ),
  KEYS_UNAVAILABLE: row(
    "upstream_unavailable",
    -32001,
    "The sign-in service cannot be reached: call again in a moment.",
    { httpStatus: 503, retryable: true },
  ),
  UPSTREAM_UNAVAILABLE: row(
    "upstream_unavailable",
    -32001,
    "Call again in a moment.",
    {
      retryable: true,
    },
  ),
  UPSTREAM_NOT_CONFIGURED: row(
    "upstream_unavailable",
    -32001,
    "The operator of this bridge must configure what is missing.",
  ),
  UPSTREAM_TIMEOUT: row(
    "upstream_unavailable",
    -32001,
    "Call again in a moment.",
    {
      retryable: true,
    },
  ),
  STORE_UNAVAILABLE: row(
    "upstream_unavailable",
    -32001,
    "Tasks cannot be stored right now; the short tools still work. Call again in a moment.",
    { retryable: true },
  ),
  TASK_LIMIT: row(
    "upstream_unavailable",
    -32001,
    "Too many tasks are running: wait for one to end or cancel one.",
    { retryable: true },
  ),
  TASK_TIMEOUT: row(
    "internal_error",
    -32603,
    "The run took longer than its timeout: call again with a larger timeout_seconds.",
  ),
  TASK_LOST: row(
    "upstream_unavailable",
    -32001,
    "The instance that ran this task went away: run it again.",
    { retryable: true },
  ),
  TASK_CANCELLED: row(
    "input_validation",
    -32602,
    "The task was cancelled: run it again.",
  ),
  INTERNAL: row(
    "internal_error",
    -32603,
    "This is a bug of the bridge: report the trace id.",
  ),
};

/** What a thrower may add to its row. */
export interface BridgeErrorOptions extends ErrorOptions {
  /** What the person can do, better than the row's general hint. */
  readonly hint?: string;
  /** More members for `error.data`, safe for the caller to see. */
  readonly data?: JsonObject;
  /** Seconds until a repeat makes sense. */
  readonly retryAfterSeconds?: number;
  /** Overrides the row's `retryable`. */
  readonly retryable?: boolean;
}

/**
 * A refusal. `message` and `hint` reach the caller: no stack, SQL, path, token,
 * row or internal id may be in them. `cause` reaches the log only.
 */
export class BridgeError extends Error {
  /** Always `BridgeError`. */
  override readonly name = "BridgeError";
  /** Which refusal it is. */
  readonly code: BridgeErrorCode;
  /** What the person can do. */
  readonly hint: string;
  /** More members for `error.data`. */
  readonly data: JsonObject;
  /** Whether the same call can succeed later. */
  readonly retryable: boolean;
  /** Seconds until a repeat makes sense. */
  readonly retryAfterSeconds: number | undefined;

  /** Makes the refusal; the message says what happened, in words that the caller may read. */
  constructor(
    code: BridgeErrorCode,
    message: string,
    options: BridgeErrorOptions = {},
  ) {
    super(
      message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.hint = options.hint ?? BRIDGE_ERRORS[code].hint;
    this.data = options.data ?? {};
    this.retryable = options.retryable ?? BRIDGE_ERRORS[code].retryable;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The class that the host shows. */
  get class(): ErrorClass {
    return BRIDGE_ERRORS[this.code].class;
  }
}

/** One fault of the arguments: RFC 6901 pointer into `params` and what is wrong there. */
export interface ArgumentIssue {
  readonly json_pointer: string;
  readonly constraint: string;
  readonly message: string;
  readonly expected?: JsonValue;
}
