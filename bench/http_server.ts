/**
 * The bridge's own stack over HTTP with CUO in this process: real tokens, real
 * validation, real spans. Prints `{port, token}` and serves until it is killed.
 *
 * `deno run -A bench/http_server.ts <signatures remembered>`
 */
import { createAuthenticator } from "../bridge/auth/authenticator.ts";
import { createMemoryKeyStore } from "../bridge/auth/key_store.ts";
import { createLocalIssuer } from "../bridge/auth/local_issuer.ts";
import type { Upstreams } from "../bridge/ports.ts";
import { createTelemetry } from "../bridge/telemetry/telemetry.ts";
import { createHttpHandler } from "../bridge/transports/http/handler.ts";
import { serveHttp } from "../bridge/transports/http/serve.ts";
import { createProtocol } from "../bridge/wire/protocol.ts";
import { ALL_SCOPES } from "../schema/tools.ts";

const clock = { now: () => Date.now() };
const log = { debug() {}, info() {}, warn() {}, error() {} };
const never = new AbortController().signal;
const cuo = {
  route: (query: string) =>
    Promise.resolve({
      persona: "chief-technology-officer",
      workflow: "architect-new-system",
      confidence: 0.92,
      alternates: ["chief-product-officer/product-roadmap"],
      rationale: query,
    }),
};
const issuer = createLocalIssuer({
  store: createMemoryKeyStore(),
  pluginId: "cyberos",
  clock,
});
const protocol = createProtocol({
  upstreams: () => Promise.resolve({ cuo } as unknown as Upstreams),
  tasks: () => Promise.reject(new Error("No tasks in this bench")),
  telemetry: createTelemetry({ clock }),
  clock,
  log,
  pluginId: "cyberos",
  version: "1.0.0",
});
const handler = createHttpHandler({
  protocol,
  authenticator: createAuthenticator({
    issuer: issuer.issuer,
    pluginId: "cyberos",
    resourceUrls: [],
    clock,
    keys: issuer.keys,
    memoEntries: Number(Deno.args[0] ?? 0),
  }),
  readiness: () => Promise.resolve([]),
  clock,
  log,
  signal: never,
  scopes: ALL_SCOPES,
  authorizationServers: [],
});
const server = serveHttp({
  listen: { hostname: "127.0.0.1", port: 0 },
  handler,
  signal: never,
  log,
});
const token = await issuer.mintAccessToken({
  subject: "bench",
  tenantId: "00000000-0000-4000-8000-000000000001",
  scopes: ALL_SCOPES,
  expiresInSeconds: 3600,
});
await Deno.stdout.write(
  new TextEncoder().encode(
    `${JSON.stringify({ port: server.port, token })}\n`,
  ),
);
