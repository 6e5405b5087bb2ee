/**
 * The conformance suite's tools behind our protocol and HTTP transport. The
 * suite sends no token, so that here everybody is one test caller.
 *
 * By hand: `deno run -A tests/bridge/conformance/server.ts 8790`, then the
 * suite's scenarios against `http://localhost:8790/mcp`.
 */
import { createHttpHandler } from "../../../bridge/transports/http/handler.ts";
import {
  type HttpServer,
  serveHttp,
} from "../../../bridge/transports/http/serve.ts";
import { Harness, principal } from "../../support/bridge_harness.ts";
import { FakeLogger } from "../../support/fake_logger.ts";
import { suiteTools } from "./suite_tools.ts";

/** Starts the fixture. */
export function startConformanceServer(
  port: number,
  signal: AbortSignal,
): HttpServer {
  const { protocol } = new Harness({ deps: { tools: suiteTools() } });
  const log = new FakeLogger();
  const handler = createHttpHandler({
    protocol,
    authenticator: {
      authenticate: () => Promise.resolve(principal()),
      status: () => Promise.resolve({ name: "none", state: "ok" }),
    },
    readiness: () => Promise.resolve([]),
    clock: { now: () => Date.now() },
    log,
    signal,
    scopes: [],
    authorizationServers: [],
    corsOrigins: [`http://localhost:${port}`],
  });
  return serveHttp({
    listen: { hostname: "127.0.0.1", port },
    handler,
    signal,
    log,
  });
}

if (import.meta.main) {
  const stop = new AbortController();
  Deno.addSignalListener("SIGINT", () => stop.abort());
  Deno.addSignalListener("SIGTERM", () => stop.abort());
  const port = Number(Deno.args[0] ?? 8790);
  await startConformanceServer(port, stop.signal).finished;
}
