/** Log messages and progress on a connection. */
import assert from "node:assert/strict";
import { untilAborted } from "../../../bridge/wire/deadline.ts";
import { BridgeError } from "../../../bridge/errors.ts";
import { type Loose, RUN } from "../../support/bridge_harness.ts";
import { StdioClient } from "../../support/stdio_client.ts";

const EXECUTE = "cyberos.cuo.execute_workflow";

function logs(client: StdioClient): Loose[] {
  return client.received
    .filter(({ method }) => method === "notifications/message")
    .map(({ params }) => params);
}

Deno.test("a client that sets no level hears nothing but answers", async () => {
  const client = new StdioClient();
  await client.initialize();
  await client.tool("cyberos.cuo.route", { query: "x" });
  await client.tool(EXECUTE, { ...RUN, wait_seconds: 1 });
  await client.close();
  assert.ok(client.received.every(({ method }) => method === undefined));
});

Deno.test("at level debug each call is told of before its answer, with its trace id and no argument", async () => {
  const client = new StdioClient();
  await client.initialize();
  const set = await client.request("logging/setLevel", { level: "debug" });
  assert.deepEqual(set.result, {});
  await client.tool("cyberos.cuo.route", { query: "secret-marker" });
  const [message] = logs(client);
  assert.deepEqual(message, {
    level: "debug",
    logger: "cyberos-mcp-bridge",
    data: {
      event: "tools/call",
      tool: "cyberos.cuo.route",
      outcome: "success",
      trace_id: client.harness.telemetry.spans[0]?.traceId,
    },
  });
  assert.equal(client.received.at(-2).method, "notifications/message");
  assert.ok(!JSON.stringify(logs(client)).includes("secret-marker"));
  await client.close();
});

for (
  const [level, expected] of [
    ["info", ["info", "notice", "warning", "error"]],
    ["notice", ["notice", "warning", "error"]],
    ["warning", ["warning", "error"]],
    ["error", ["error"]],
    ["critical", []],
    ["emergency", []],
  ] as const
) {
  Deno.test(`at level ${level} a client hears ${expected.join(", ") || "nothing"}`, async () => {
    const client = new StdioClient();
    await client.initialize();
    await client.request("logging/setLevel", { level });
    const { behaviours } = client.harness.upstreams;
    await client.tool("cyberos.cuo.route", {});
    await client.tool("cyberos.memory.append_audit", { kind: "k", body: {} });
    behaviours.set("cuo.route", () => {
      throw new BridgeError("UPSTREAM_UNAVAILABLE", "CUO is away");
    });
    await client.tool("cyberos.cuo.route", { query: "x" });
    behaviours.set("cuo.route", () => {
      throw new TypeError("bug");
    });
    await client.tool("cyberos.cuo.route", { query: "x" });
    await client.close();
    assert.deepEqual(logs(client).map((message) => message.level), expected);
  });
}

Deno.test("logging/setLevel refuses what is no level, and keeps the one that was set", async () => {
  const client = new StdioClient();
  await client.initialize();
  await client.request("logging/setLevel", { level: "debug" });
  for (const level of ["verbose", "DEBUG", 7, null, undefined]) {
    const { error } = await client.request("logging/setLevel", { level });
    assert.equal(error.code, -32602);
    assert.equal(error.data.errors[0].json_pointer, "/level");
  }
  await client.tool("cyberos.cuo.route", { query: "x" });
  assert.equal(logs(client).length, 1);
  await client.close();
});

Deno.test("a request's own level in _meta holds for that request alone", async () => {
  const client = new StdioClient();
  await client.initialize();
  const _meta = { "io.modelcontextprotocol/logLevel": "debug" };
  await client.tool("cyberos.cuo.route", { query: "x" }, { _meta });
  assert.equal(logs(client).length, 1);
  await client.tool("cyberos.cuo.route", { query: "x" });
  assert.equal(logs(client).length, 1);
  await client.close();
});

/** A workflow that takes its steps when the test says so. */
function stepped(client: StdioClient) {
  const end = Promise.withResolvers<Loose>();
  const context = Promise.withResolvers<Loose>();
  client.harness.upstreams.behaviours.set("cuo.executeWorkflow", (_, run) => {
    context.resolve(run);
    return untilAborted(end.promise, run.signal);
  });
  return { end: () => end.resolve({ done: true }), context: context.promise };
}

function progressOf(client: StdioClient, token: unknown): Loose[] {
  return client.received.filter(({ method, params }) =>
    method === "notifications/progress" && params.progressToken === token
  ).map(({ params }) => params);
}

Deno.test("TASK-11 progress goes on under the request's token after CreateTaskResult, until the task's end and no longer", async () => {
  const client = new StdioClient();
  await client.initialize();
  const work = stepped(client);
  const { result } = await client.tool(EXECUTE, RUN, {
    task: {},
    _meta: { progressToken: "p" },
  });
  const { taskId } = result.task;
  const context = await work.context;
  await client.settled();
  context.onProgress({ step: 1, total: 3, message: "one" });
  context.onProgress({ step: 2, total: 3, message: "two" });
  await client.settled();
  work.end();
  const ended = await client.until(({ method }) =>
    method === "notifications/tasks/status"
  );
  assert.equal(ended.params.taskId, taskId);
  assert.equal(ended.params.status, "completed");
  context.onProgress({ step: 3, total: 3, message: "too late" });
  await client.settled();
  const seen = progressOf(client, "p");
  assert.deepEqual(seen.map(({ progress }) => progress), [1, 2]);
  for (const { _meta } of seen) {
    assert.deepEqual(_meta["io.modelcontextprotocol/related-task"], { taskId });
  }
  const answer = client.received.findIndex((message) =>
    message.result?.task !== undefined
  );
  const first = client.received.findIndex(({ method }) =>
    method === "notifications/progress"
  );
  assert.ok(answer < first);
  await client.close();
});

Deno.test("TASK-11 a token that a running task holds stays with it; the call that borrows it runs without", async () => {
  const client = new StdioClient();
  await client.initialize();
  const work = stepped(client);
  await client.tool(EXECUTE, RUN, {
    task: {},
    _meta: { progressToken: "p" },
  });
  const context = await work.context;
  client.harness.upstreams.behaviours.set(
    "skills.invoke",
    (_, run: Loose) => {
      run.onProgress({ step: 100 });
      return {};
    },
  );
  const other = await client.tool("cyberos.skill.invoke_skill", {
    skill_id: "audit",
    inputs: {},
    wait_seconds: 5,
  }, {
    _meta: { progressToken: "p", "mcp/sampling/elicit_confirm": true },
  });
  assert.equal(other.result.structuredContent.status, "completed");
  context.onProgress({ step: 1 });
  await client.settled();
  const steps = progressOf(client, "p").map(({ progress }) => progress);
  assert.deepEqual(steps, [1]);
  work.end();
  await client.until(({ method }) => method === "notifications/tasks/status");
  const again = await client.tool(EXECUTE, { ...RUN, wait_seconds: 5 }, {
    _meta: { progressToken: "p" },
  });
  assert.ok(again.result);
  await client.close();
});

Deno.test("tasks/result tells progress under its own token while it waits", async () => {
  const client = new StdioClient();
  await client.initialize();
  const work = stepped(client);
  const { result } = await client.tool(EXECUTE, RUN, { task: {} });
  const { taskId } = result.task;
  const context = await work.context;
  const waiting = client.request("tasks/result", {
    taskId,
    _meta: { progressToken: 7 },
  });
  await client.settled();
  context.onProgress({ step: 1 });
  await client.settled();
  work.end();
  const done = await waiting;
  assert.equal(done.result.structuredContent.status, "completed");
  assert.deepEqual(progressOf(client, 7).map(({ progress }) => progress), [1]);
  await client.close();
});
