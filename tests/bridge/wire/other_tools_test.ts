/** The protocol serves any set of tools, not only the eight. */
import assert from "node:assert/strict";
import {
  createToolSet,
  type Tool,
  type ToolContext,
} from "../../../bridge/calls/tool_set.ts";
import { Harness, type Loose } from "../../support/bridge_harness.ts";

function tool(parts: Partial<Tool> & Pick<Tool, "call">): Tool {
  const name = parts.name ?? "test_tool";
  return {
    name,
    listing: { name, inputSchema: { type: "object" } },
    scopes: [],
    needsConfirmation: false,
    longRunning: false,
    validate: () => Promise.resolve([]),
    ...parts,
  };
}

function serving(...tools: Tool[]): Harness {
  return new Harness({ deps: { tools: createToolSet(tools) } });
}

Deno.test("a tool may answer content blocks of its own, without structured content", async () => {
  const image = { type: "image", data: "AAAA", mimeType: "image/png" };
  const harness = serving(tool({
    call: () => Promise.resolve({ kind: "result", content: [image] }),
  }));
  const { result } = await harness.tool("test_tool");
  assert.deepEqual(result, { content: [image], isError: false });
  const { tools } = (await harness.request("tools/list")).result;
  assert.equal(tools.length, 1);
});

Deno.test("a tool may answer that it failed in its own words", async () => {
  const harness = serving(tool({
    call: () =>
      Promise.resolve({
        kind: "result",
        content: [{ type: "text", text: "No" }],
        isError: true,
      }),
  }));
  const { result } = await harness.tool("test_tool");
  assert.equal(result.isError, true);
});

Deno.test("a tool's log messages reach a client that set no level, from info on", async () => {
  const harness = serving(tool({
    call: (_, { log }) => {
      log("debug", "unheard");
      log("info", "heard");
      return Promise.resolve({ kind: "result", content: [] });
    },
  }));
  await harness.tool("test_tool");
  assert.deepEqual(harness.notified.map(({ params }) => params["data"]), [
    "heard",
  ]);
});

Deno.test("nothing is reported under a progress token once its request is answered", async () => {
  let context: ToolContext | undefined;
  const harness = serving(tool({
    call: (_, given) => {
      context = given;
      given.onProgress({ step: 1 });
      return Promise.resolve({ kind: "result", content: [] });
    },
  }));
  await harness.tool("test_tool", {}, { meta: { progressToken: "p" } });
  context?.onProgress({ step: 2 });
  const steps = harness.notified.map(({ params }) => params["progress"]);
  assert.deepEqual(steps, [1]);
});

Deno.test("an answer that cannot be written as JSON is an internal error, and the next one is fine", async () => {
  const circular: Loose = {};
  circular.self = circular;
  let content: Loose[] = [circular];
  const harness = serving(tool({
    call: () => Promise.resolve({ kind: "result", content }),
  }));
  const { error } = await harness.tool("test_tool");
  assert.equal(error.code, -32603);
  content = [];
  assert.deepEqual((await harness.tool("test_tool")).result.content, []);
});
