/** Every way in which an HTTP upstream fails, as a refusal without a byte of its answer. */
import { BridgeError } from "../../errors.ts";
import type { BodyError } from "./bounded_body.ts";

/** A failed attempt: what the log may say, whether a repeat can help, what the caller gets. */
export class RestFault extends Error {
  override readonly name = "RestFault";
  constructor(
    readonly reason: string,
    readonly repeatable: boolean,
    readonly refusal: BridgeError,
  ) {
    super(reason);
  }
}

/** Names for messages and hints. */
export interface RestNames {
  /** As the caller may read it: `The audit memory`. */
  readonly upstream: string;
  /** The setting that holds the address. */
  readonly endpointSetting: string;
  /** The setting that holds the bridge's own credential. */
  readonly tokenSetting: string;
}

const REPEATABLE_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The fault for a status outside 200–299. */
export function faultOfStatus(
  names: RestNames,
  status: number,
  retryAfterSeconds?: number,
): RestFault {
  const refusal = refusalOfStatus(names, status, retryAfterSeconds);
  return new RestFault(
    `status ${status}`,
    REPEATABLE_STATUS.has(status),
    refusal,
  );
}

function refusalOfStatus(
  names: RestNames,
  status: number,
  retryAfterSeconds?: number,
): BridgeError {
  const { upstream, endpointSetting, tokenSetting } = names;
  if (status === 401 || status === 403) {
    return operatorsTask(
      `${upstream} refuses the bridge's own credential`,
      `The operator must check ${tokenSetting}. Signing in again does not help.`,
    );
  }
  if (status >= 300 && status < 400) {
    return operatorsTask(
      `${upstream} answered with a redirect, which is not followed`,
      `The operator must set ${endpointSetting} to the final address.`,
    );
  }
  if (status === 429) {
    return new BridgeError("UPSTREAM_UNAVAILABLE", `${upstream} is busy`, {
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
      hint: retryAfterSeconds === undefined
        ? "Wait a moment and call again."
        : `Call again in ${retryAfterSeconds} seconds.`,
    });
  }
  if (status >= 500) {
    return new BridgeError("UPSTREAM_UNAVAILABLE", `${upstream} has failed`, {
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
  return operatorsTask(
    `${upstream} refused the request`,
    `The operator must check that ${endpointSetting} names this service and its version.`,
  );
}

/** The fault for a request that got no response: refused, reset, unknown host, no permission. */
export function faultOfNetwork(names: RestNames, cause: unknown): RestFault {
  if (cause instanceof Deno.errors.NotCapable) {
    return new RestFault(
      "no network permission",
      false,
      new BridgeError(
        "UPSTREAM_NOT_CONFIGURED",
        `The bridge has no permission to reach ${lower(names.upstream)}`,
        {
          cause,
          hint:
            `The operator must start the bridge with --allow-net for the host in ${names.endpointSetting}.`,
        },
      ),
    );
  }
  const what = networkReason(cause);
  return new RestFault(
    what,
    true,
    new BridgeError(
      "UPSTREAM_UNAVAILABLE",
      `${names.upstream} cannot be reached`,
      {
        // Not the error itself: the log writes a cause whole.
        cause: new Error(what),
        hint:
          `Call again in a moment. If it stays so, the operator must check ${names.endpointSetting}.`,
      },
    ),
  );
}

/** The fault for a body that could not be read. */
export function faultOfBody(names: RestNames, cause: BodyError): RestFault {
  const cutOff = cause.fault === "cut off";
  return new RestFault(
    `body ${cause.fault}`,
    cutOff,
    cutOff
      ? new BridgeError(
        "UPSTREAM_UNAVAILABLE",
        `The answer of ${lower(names.upstream)} was cut off`,
        { cause },
      )
      : malformed(
        names,
        `an answer that is ${
          cause.fault === "too large" ? "larger than allowed" : "not UTF-8"
        }`,
      ),
  );
}

/** The fault for an answer that is not the JSON it should be. */
export function faultOfAnswer(names: RestNames, what: string): RestFault {
  return new RestFault(`${what} answer`, false, malformed(names, what));
}

/** The refusal where the address is missing or wrong. */
export function notConfigured(names: RestNames, problem: string): RestFault {
  return new RestFault(
    "not configured",
    false,
    new BridgeError(
      "UPSTREAM_NOT_CONFIGURED",
      `${names.upstream} is not configured`,
      {
        hint:
          `The operator must set ${names.endpointSetting}, which ${problem}; or start the bridge with --embedded to try it without.`,
      },
    ),
  );
}

function malformed(names: RestNames, what: string): BridgeError {
  return operatorsTask(
    `${names.upstream} gave ${what}${
      what.startsWith("an answer") ? "" : " answer"
    }`,
    `The operator must check that ${names.endpointSetting} names this service and not a proxy or a web page.`,
  );
}

function operatorsTask(message: string, hint: string): BridgeError {
  return new BridgeError("UPSTREAM_UNAVAILABLE", message, {
    hint,
    retryable: false,
  });
}

function lower(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

// The runtime's messages quote the whole URL, query included: only their kind may be logged.
function networkReason(cause: unknown): string {
  const text = cause instanceof Error ? causeText(cause) : "";
  if (/refused/i.test(text)) return "connection refused";
  if (/dns|lookup|resolve/i.test(text)) return "unknown host";
  if (/reset|closed|eof|incomplete/i.test(text)) return "connection closed";
  if (/certificate|tls|handshake/i.test(text)) return "TLS failed";
  return "network failure";
}

function causeText(error: Error): string {
  const inner = error.cause instanceof Error ? error.cause.message : "";
  return `${error.message} ${inner}`;
}
