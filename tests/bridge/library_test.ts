/** The bridge as a library: what `createBridge` gives and refuses. */
import assert from "node:assert/strict";
import { createBridge } from "../../bridge/mod.ts";

const quiet = { logLevel: "off" } as const;

Deno.test("createBridge() answers as the HTTP program does, and closes", async () => {
  const bridge = createBridge({ config: quiet });
  const ask = async (path: string, init: RequestInit = {}) => {
    const url = `http://127.0.0.1:8082${path}`;
    const response = await bridge.fetch(new Request(url, init));
    return { status: response.status, text: await response.text() };
  };
  assert.deepEqual(await ask("/healthz"), {
    status: 200,
    text: '{"status":"ok"}',
  });
  const { status, text } = await ask("/mcp", { method: "POST", body: "{}" });
  assert.equal(status, 401);
  assert.equal(JSON.parse(text).error.data.class, "authz_denied");
  await bridge.close();
});

Deno.test("createBridge() refuses at once what no call could use, without its secret", () => {
  for (
    const config of [
      { databaseUrl: "postgres://hunter2@h:port/db" },
      { databaseUrl: "postgres://h/db?hunter2" },
      { corsOrigins: ["*"] },
      { jwtAlgorithms: ["HS256"] },
    ]
  ) {
    assert.throws(
      () => createBridge({ config: { ...quiet, ...config } }),
      (error: Error) => !error.message.includes("hunter2"),
      JSON.stringify(config),
    );
  }
});
