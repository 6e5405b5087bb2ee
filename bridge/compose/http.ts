/** The HTTP bridge as one `fetch` handler, composed. */
import { ALL_SCOPES } from "../../schema/tools.ts";
import { createCallLimits } from "../transports/http/call_limits.ts";
import {
  createHttpHandler,
  type HttpHandler,
} from "../transports/http/handler.ts";
import { compose, type ComposeOptions, type Composition } from "./mod.ts";
import { dependencyStatuses } from "./readiness.ts";
import { SYSTEM_CLOCK } from "./telemetry.ts";

/** A composed bridge and its handler. */
export interface HttpComposition {
  readonly bridge: Composition;
  readonly handler: HttpHandler;
  /** Ends the calls that still run; for the end of a drain. */
  abort(): void;
}

/** Composes; nothing is connected before a request needs it. */
export function composeHttp(options: ComposeOptions): HttpComposition {
  const { config } = options;
  const bridge = compose({
    ...options,
    enter: createCallLimits({ ...config, clock: SYSTEM_CLOCK }),
  });
  const running = new AbortController();
  const handler = createHttpHandler({
    protocol: bridge.protocol,
    authenticator: bridge.identity.authenticator,
    readiness: (signal) => dependencyStatuses(bridge, signal),
    clock: bridge.clock,
    log: bridge.log,
    signal: running.signal,
    scopes: ALL_SCOPES,
    authorizationServers: config.embedded ? [] : [config.authIssuer],
    ...(config.resourceUrl === undefined
      ? {}
      : { resourceUrl: config.resourceUrl }),
    listenHostname: config.listen.hostname,
    allowedHosts: config.allowedHosts,
    corsOrigins: config.corsOrigins,
    limits: { maxBodyBytes: config.maxMessageBytes },
  });
  return { bridge, handler, abort: () => running.abort() };
}
