/** The methods that answer at once, without a token, an upstream or the store. */
import type { JsonObject } from "../../schema/json.ts";
import { isLogLevel, LOG_LEVELS } from "../calls/log_level.ts";
import type { ToolSet } from "../calls/tool_set.ts";
import { BridgeError } from "../errors.ts";
import type { Exchange } from "./exchange.ts";
import {
  clientCapabilities,
  initialize,
  type ServerIdentity,
} from "./initialize.ts";
import { paramsInvalid } from "./params.ts";

/** Answers `params` with a result. @throws {BridgeError} What is wrong with them. */
export type ShortMethod = (
  params: JsonObject,
  exchange: Exchange,
) => JsonObject;

/** The methods by name. */
export function shortMethods(
  server: ServerIdentity & { readonly tools: ToolSet },
): ReadonlyMap<string, ShortMethod> {
  return new Map<string, ShortMethod>([
    ["initialize", (params, exchange) => shakeHands(params, exchange, server)],
    ["ping", () => ({})],
    ["logging/setLevel", setLevel],
    ["tools/list", (params) => listTools(params, server.tools)],
  ]);
}

function shakeHands(
  params: JsonObject,
  { session }: Exchange,
  server: ServerIdentity,
): JsonObject {
  if (session?.initialized) {
    throw new BridgeError(
      "INVALID_REQUEST",
      "The session is initialized already",
      { hint: "Open a new connection to start over." },
    );
  }
  const result = initialize(params, server);
  if (session !== undefined) {
    session.initialized = true;
    session.clientCapabilities = clientCapabilities(params);
  }
  return result;
}

// On HTTP, which keeps nothing between requests, the level is accepted and has no
// effect: a request there names its own in `_meta`.
function setLevel(params: JsonObject, { session }: Exchange): JsonObject {
  const { level } = params;
  if (!isLogLevel(level)) {
    throw paramsInvalid("/level", `one of ${LOG_LEVELS.join(", ")}`);
  }
  if (session !== undefined) session.logLevel = level;
  return {};
}

function listTools(params: JsonObject, tools: ToolSet): JsonObject {
  if (params["cursor"] !== undefined) {
    throw paramsInvalid("/cursor", "absent, as there is one page");
  }
  return tools.listing;
}
