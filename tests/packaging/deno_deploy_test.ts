import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { goodClaims, makeSigningKey, signToken } from "../support/tokens.ts";

const ENTRY = fileURLToPath(
  new URL("../../deploy/deno-deploy/main.ts", import.meta.url),
);

/** The entry point with network and environment, and nothing else: no file, no child. */
function start(env: Readonly<Record<string, string>>): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--no-prompt", "--frozen", "--allow-net", "--allow-env"],
      // Deno Deploy gives the port itself.
      ENTRY,
    ],
    clearEnv: true,
    env: {
      HOME: Deno.env.get("HOME") ?? "",
      PATH: Deno.env.get("PATH") ?? "",
      DENO_DIR: Deno.env.get("DENO_DIR") ??
        `${Deno.env.get("HOME")}/.cache/deno`,
      DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0",
      ...env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

async function address(child: Deno.ChildProcess): Promise<string> {
  let said = "";
  const decoder = new TextDecoder();
  const streams = [child.stdout, child.stderr].map(async (stream) => {
    for await (const chunk of stream.values({ preventCancel: true })) {
      said += decoder.decode(chunk, { stream: true });
      const found = /https?:\/\/[\w.]+:\d+/.exec(said);
      if (found !== null) return found[0];
    }
    throw new Error(`Ended: ${said}`);
  });
  return await Promise.any(streams);
}

async function stop(child: Deno.ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await Promise.allSettled([child.stdout.cancel(), child.stderr.cancel()]);
  await child.status;
}

Deno.test("the Deno Deploy entry serves the bridge with CUO over HTTP, without files and children", async () => {
  const key = await makeSigningKey("k1");
  const asked: string[] = [];
  await using world = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/keys") {
        return Response.json({ keys: [key.publicJwk] });
      }
      const { id, method } = await request.json();
      asked.push(method);
      const persona = {
        slug: "cto",
        title: "CTO",
        status: "shipped",
        workflow_count: 1,
      };
      return Response.json({
        jsonrpc: "2.0",
        id,
        result: { personas: [persona] },
      });
    },
  );
  const origin = `http://127.0.0.1:${world.addr.port}`;
  const child = start({
    CYBEROS_DATABASE_URL: "postgres://nobody@127.0.0.1:9/none",
    CYBEROS_RESOURCE_URL: "https://mcp.example.com/mcp",
    CYBEROS_JWKS_URL: `${origin}/keys`,
    CYBEROS_AUTH_ISSUER: "https://issuer.test",
    CUO_ENDPOINT: `${origin}/rpc`,
    SKILL_BROKER_ENDPOINT: origin,
    MEMORY_ENDPOINT: origin,
  });
  try {
    const url = `${await address(child)}/mcp`;
    const call = (headers: Record<string, string>) =>
      fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "cyberos.cuo.list_personas", arguments: {} },
        }),
      });
    const refused = await call({});
    assert.equal(refused.status, 401);
    await refused.body?.cancel();
    const token = await signToken(key, { claims: goodClaims(Date.now()) });
    const answered = await call({ authorization: `Bearer ${token}` });
    assert.equal(answered.status, 200);
    const { result } = await answered.json();
    assert.equal(result.structuredContent.personas[0].slug, "cto");
    assert.deepEqual(asked, ["list_personas"]);
  } finally {
    await stop(child);
  }
});

Deno.test("the Deno Deploy entry says all that is missing, and does not start", async () => {
  const { code, stderr } = await start({
    CYBEROS_RESOURCE_URL: "not a url",
  }).output();
  assert.notEqual(code, 0);
  const text = new TextDecoder().decode(stderr);
  for (const name of ["CYBEROS_DATABASE_URL", "CUO_ENDPOINT"]) {
    assert.match(text, new RegExp(`${name}: is not set`));
  }
  assert.match(text, /CYBEROS_RESOURCE_URL: want/);
});
