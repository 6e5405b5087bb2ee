/**
 * A small CyberOS installation for end-to-end tests: a real bridge process over
 * HTTP, a real PostgreSQL database, a real CUO child, a JWKS endpoint and a
 * memory service that keeps its rows.
 */
import { exportJWK } from "jose";
import type { JsonObject } from "../../schema/json.ts";
import { ALL_SCOPES } from "../../schema/tools.ts";
import { type FakeCuo, installFakeCuo } from "../support/fake_cuo/install.ts";
import type { TestDatabase } from "../support/postgres.ts";
import { makeSigningKey, signToken, TENANT_A } from "../support/tokens.ts";
import { bridgeArgs, cleanEnv } from "./bridge_process.ts";

const ISSUER_PATH = "/issuer";

/** A memory service and an issuer on one port. */
export interface Services extends AsyncDisposable {
  readonly url: string;
  readonly issuer: string;
  readonly rows: JsonObject[];
  /** What the memory service answers instead of working; 0 works. */
  memoryStatus: number;
  /** The body of such an answer. */
  memoryBody: string;
  token(options?: {
    readonly tenantId?: string;
    readonly subject?: string;
    readonly scopes?: readonly string[];
  }): Promise<string>;
}

/** Starts issuer and memory on a free port. */
export async function startServices(): Promise<Services> {
  const key = await makeSigningKey("e2e");
  await exportJWK(key.privateKey).catch(() => {});
  const rows: JsonObject[] = [];
  const server = Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen() {},
      // A bridge that was killed leaves its request unfinished.
      onError: () => new Response(null, { status: 500 }),
    },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === `${ISSUER_PATH}/.well-known/jwks.json`) {
        return Response.json({ keys: [key.publicJwk] });
      }
      if (pathname !== "/v1/audit") return new Response(null, { status: 404 });
      if (services.memoryStatus !== 0) {
        await request.body?.cancel();
        return new Response(services.memoryBody, {
          status: services.memoryStatus,
        });
      }
      if (request.method === "GET") {
        return Response.json({
          rows,
          next_seq: null,
        });
      }
      const row = {
        ...await request.json() as JsonObject,
        seq: rows.length + 1,
      };
      rows.push(row);
      return Response.json({ seq: row.seq }, { status: 201 });
    },
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  const services: Services = {
    url,
    issuer: `${url}${ISSUER_PATH}`,
    rows,
    memoryStatus: 0,
    memoryBody: "",
    token(
      { tenantId = TENANT_A, subject = "user-1", scopes = ALL_SCOPES } = {},
    ) {
      const now = Math.floor(Date.now() / 1000);
      return signToken(key, {
        claims: {
          iss: services.issuer,
          sub: subject,
          tenant_id: tenantId,
          scope: scopes.join(" "),
          iat: now,
          exp: now + 600,
        },
      });
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return services;
}

/** A bridge process that serves HTTP. */
export interface HttpBridge extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Ends it, gently or not, and waits. */
  stop(signal?: Deno.Signal): Promise<number>;
  post(
    token: string,
    message: unknown,
  ): Promise<{ status: number; body: JsonRpcAnswer }>;
  /** Calls a tool; the JSON-RPC answer. */
  call(
    token: string,
    name: string,
    args: unknown,
    meta?: unknown,
  ): Promise<JsonRpcAnswer>;
}

/** An answer, loosely typed for assertions. */
export interface JsonRpcAnswer {
  // deno-lint-ignore no-explicit-any -- read loosely by assertions.
  readonly result?: any;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    // deno-lint-ignore no-explicit-any -- read loosely by assertions.
    readonly data: any;
  };
}

/** Starts a bridge against the services and the database. */
export async function startHttpBridge(
  services: Services,
  database: TestDatabase,
  cuo: FakeCuo,
  more: readonly string[] = [],
): Promise<HttpBridge> {
  const child = new Deno.Command(Deno.execPath(), {
    args: await bridgeArgs([
      "--transport=http",
      "--listen=127.0.0.1:0",
      `--auth-issuer=${services.issuer}`,
      `--memory-endpoint=${services.url}`,
      `--cuo=${cuo.program}`,
      `--database-url=${database.bridgeUrl}`,
      "--calls-per-second=1000",
      ...more,
    ]),
    clearEnv: true,
    env: cleanEnv({ CYBEROS_ROOT: cuo.root, CYBEROS_LOG_LEVEL: "info" }),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const url = await listeningUrl(child.stderr);
  let ended: Promise<number> | undefined;
  let id = 0;
  const bridge: HttpBridge = {
    url,
    pid: child.pid,
    stop(signal = "SIGTERM") {
      if (ended === undefined) child.kill(signal);
      return ended ??= child.status.then(({ code }) => code);
    },
    async post(token, message) {
      const response = await fetch(url, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify(message),
      });
      const text = await response.text();
      const json = text.startsWith("{")
        ? text
        : text.match(/^data: (\{.*\})$/m)?.[1] ?? "{}";
      return { status: response.status, body: JSON.parse(json) };
    },
    async call(token, name, args, meta) {
      const params = {
        name,
        arguments: args,
        ...(meta === undefined ? {} : { _meta: meta }),
      };
      const message = {
        jsonrpc: "2.0",
        id: ++id,
        method: "tools/call",
        params,
      };
      return (await bridge.post(token, message)).body;
    },
    [Symbol.asyncDispose]: async () => void await bridge.stop(),
  };
  return bridge;
}

/** Reads the log until the bridge says where it listens, then only drains it. */
async function listeningUrl(
  stderr: ReadableStream<Uint8Array<ArrayBuffer>>,
): Promise<string> {
  const reader = stderr.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The bridge ended at once:\n${text}`);
    text += value;
    const url = text.match(/"url":"(http[^"]+)"/)?.[1];
    if (url === undefined) continue;
    (async () => {
      while (!(await reader.read()).done);
    })();
    return url;
  }
}

/** Everything at once, ended in the right order. */
export async function withInstallation(
  database: TestDatabase,
  run: (
    parts: { services: Services; cuo: FakeCuo; bridge: HttpBridge },
  ) => Promise<void>,
  more: readonly string[] = [],
): Promise<void> {
  await using services = await startServices();
  const cuo = await installFakeCuo();
  try {
    await using bridge = await startHttpBridge(services, database, cuo, more);
    await run({ services, cuo, bridge });
  } finally {
    await cuo.remove();
  }
}

/** Asks for a task until it has ended. */
export async function ended(
  bridge: HttpBridge,
  token: string,
  taskId: string,
  // deno-lint-ignore no-explicit-any -- read loosely by assertions.
): Promise<any> {
  for (let n = 0; n < 200; n++) {
    const { body } = await bridge.post(token, {
      jsonrpc: "2.0",
      id: n,
      method: "tasks/get",
      params: { id: taskId },
    });
    if (body.result?.status !== "running") return body.result ?? body.error;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Task ${taskId} still runs`);
}
