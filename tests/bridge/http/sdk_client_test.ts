/** MCP's own client over Streamable HTTP. */
import assert from "node:assert/strict";
// @ts-types="@modelcontextprotocol/sdk/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { TOKEN, withBridge } from "./support.ts";

Deno.test("HTTP-27 the official client initializes, lists 8 tools 20 times alike and calls them", async () => {
  await withBridge({}, async ({ url }) => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const transport = new StreamableHTTPClientTransport(
      new URL(`${url}/mcp`),
      { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } },
    );
    await client.connect(transport);
    assert.equal(client.getServerVersion()?.name, "cyberos-mcp-bridge");
    assert.equal(transport.sessionId, undefined);
    const lists = await Promise.all(
      Array.from({ length: 20 }, () => client.listTools()),
    );
    const texts = new Set(lists.map((list) => JSON.stringify(list)));
    assert.equal(texts.size, 1);
    assert.equal(lists[0]?.tools.length, 8);
    await client.ping();
    await client.setLoggingLevel("debug");
    const route = await client.callTool({
      name: "cyberos.cuo.route",
      arguments: { query: "architect" },
    });
    assert.equal(
      (route.structuredContent as { confidence: number }).confidence,
      0.92,
    );
    const steps: number[] = [];
    const run = await client.callTool(
      {
        name: "cyberos.cuo.execute_workflow",
        arguments: {
          persona: "chief-technology-officer",
          workflow: "architect-new-system",
          inputs: {},
          wait_seconds: 5,
        },
      },
      undefined,
      {
        onprogress: ({ progress }: { progress: number }) =>
          steps.push(progress),
      },
    );
    assert.equal(run.isError, false);
    assert(steps.length >= 1);
    await client.close();
  });
});

Deno.test("HTTP-28 the official client does not repeat or reconnect after our error codes", async () => {
  await withBridge({}, async ({ url, harness }) => {
    let requests = 0;
    const counting: typeof fetch = (input, init) => {
      if (String(input).endsWith("/mcp") && init?.method === "POST") requests++;
      return fetch(input, init);
    };
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${TOKEN}` } },
        fetch: counting,
      }),
    );
    const before = requests;
    for (
      const [name, args, code] of [
        ["cyberos.memory.append_audit", { kind: "a", body: {} }, -32000],
        ["cyberos.cuo.route", { query: "x" }, -32001],
      ] as const
    ) {
      harness.upstreams.behaviours.set("cuo.route", async () => {
        const { BridgeError } = await import("../../../bridge/errors.ts");
        throw new BridgeError("UPSTREAM_UNAVAILABLE", "Cannot reach CUO");
      });
      await assert.rejects(
        client.callTool({ name, arguments: args }),
        (error) => {
          const { code: seen, data } = error as { code: number; data: unknown };
          assert.equal(seen, code);
          assert.equal(
            typeof (data as { trace_id: string }).trace_id,
            "string",
          );
          return true;
        },
      );
    }
    assert.equal(requests - before, 2);
    await client.ping();
    await client.close();
  });
});
