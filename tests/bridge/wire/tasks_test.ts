/** Tasks in the two dialects of decision D6. */
import assert from "node:assert/strict";
import { BridgeError } from "../../../bridge/errors.ts";
import { untilAborted } from "../../../bridge/wire/deadline.ts";
import {
  CONFIRMED,
  Harness,
  type Loose,
  principal,
  RUN,
} from "../../support/bridge_harness.ts";
import { TENANT_B } from "../../support/tokens.ts";

const EXECUTE = "cyberos.cuo.execute_workflow";

/** A workflow that ends when the test says so. */
function gated(harness: Harness): { open(output?: unknown): void } {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  harness.upstreams.behaviours.set(
    "cuo.executeWorkflow",
    (_, { signal }) => untilAborted(promise, signal),
  );
  return { open: (output = { steps_executed: 1 }) => resolve(output) };
}

async function start(harness: Harness, args: Loose = RUN): Promise<Loose> {
  return (await harness.tool(EXECUTE, args)).result.structuredContent;
}

async function startMcp(harness: Harness, task: Loose = {}): Promise<Loose> {
  return (await harness.tool(EXECUTE, RUN, { task })).result.task;
}

Deno.test("P2-AC04 execute_workflow answers a running task at once, as text in the specification's shape", async () => {
  const harness = new Harness();
  const gate = gated(harness);
  const begun = performance.now();
  const { result } = await harness.tool(EXECUTE, RUN);
  assert.ok(performance.now() - begun < 100);
  const text = JSON.parse(result.content[0].text);
  assert.deepEqual(Object.keys(text), ["task_id", "status"]);
  assert.equal(text.status, "running");
  assert.equal(result.isError, false);
  gate.open();
  await harness.tasks.idle();
});

Deno.test("P2-AC05 tasks/get {id} goes from running to completed with output and duration_ms", async () => {
  const harness = new Harness();
  const gate = gated(harness);
  const { task_id } = await start(harness);
  const get = async () =>
    (await harness.request("tasks/get", { id: task_id })).result;
  assert.deepEqual(await get(), { task_id, status: "running" });
  harness.clock.advance(1234);
  gate.open({ steps_executed: 10 });
  await harness.tasks.idle();
  assert.deepEqual(await get(), {
    task_id,
    status: "completed",
    output: { steps_executed: 10 },
    duration_ms: 1234,
  });
});

Deno.test("P2-AC06 tasks/cancel {id} aborts the work and answers the cancelled task", async () => {
  const harness = new Harness();
  gated(harness);
  const { task_id } = await start(harness);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const { result } = await harness.request("tasks/cancel", { id: task_id });
  assert.equal(result.task_id, task_id);
  assert.equal(result.status, "cancelled");
  assert.ok(harness.upstreams.calls[0]?.signal.aborted);
});

Deno.test("a failed run shows class, message and hint to tasks/get, flat and as JSON-RPC data", async () => {
  const harness = new Harness();
  harness.upstreams.behaviours.set("cuo.executeWorkflow", () => {
    throw new BridgeError("TASK_TIMEOUT", "The run took longer than 600 s");
  });
  const { task_id } = await start(harness);
  await harness.tasks.idle();
  const { result } = await harness.request("tasks/get", { id: task_id });
  assert.equal(result.status, "failed");
  assert.equal(result.error.class, "internal_error");
  assert.match(result.error.hint, /timeout_seconds/);
  assert.equal(result.error.data.class, "internal_error");
  assert.equal(result.error.code, -32603);
});

Deno.test("a call with params.task answers CreateTaskResult, and tasks/get {taskId} the same task", async () => {
  const harness = new Harness();
  const gate = gated(harness);
  const { result } = await harness.tool(EXECUTE, RUN, { task: { ttl: 5000 } });
  assert.deepEqual(Object.keys(result), ["task"]);
  assert.equal(result.task.status, "working");
  assert.equal(result.task.ttl, 5000);
  const { taskId } = result.task;
  const got = (await harness.request("tasks/get", { taskId })).result;
  assert.deepEqual(got, result.task);
  gate.open();
  await harness.tasks.idle();
  const done = (await harness.request("tasks/get", { taskId })).result;
  assert.equal(done.status, "completed");
});

Deno.test("a token without the tool's scopes neither reads nor ends its tasks", async () => {
  const harness = new Harness();
  const gate = gated(harness);
  const { result } = await harness.tool(EXECUTE, RUN, { task: {} });
  const { taskId } = result.task;
  harness.caller = () => principal({ scopes: ["cyberos:cuo:list"] });
  for (const method of ["tasks/get", "tasks/cancel", "tasks/result"]) {
    const { error } = await harness.request(method, { taskId });
    assert.equal(error.data.class, "authz_denied", method);
    assert.deepEqual(error.data.missing_scopes, [
      "cyberos:cuo:execute",
      "cyberos:memory:write",
    ]);
  }
  assert.deepEqual((await harness.request("tasks/list")).result.tasks, []);
  harness.caller = () => principal();
  const listed = (await harness.request("tasks/list")).result.tasks;
  assert.equal(listed[0].status, "working", "and it still runs");
  gate.open();
  await harness.tasks.idle();
});

Deno.test("wait_seconds does not hold up a caller that asked for a task", async () => {
  const harness = new Harness();
  const gate = gated(harness);
  const args = { ...RUN, wait_seconds: 50 };
  const { result } = await harness.tool(EXECUTE, args, { task: {} });
  assert.equal(result.task.status, "working");
  gate.open();
  await harness.tasks.idle();
});

Deno.test("TASK-04 params.task on a tool without tasks is -32601 with a reason, and runs nothing", async () => {
  const harness = new Harness();
  const { error } = await harness.tool("cyberos.cuo.list_personas", {}, {
    task: {},
  });
  assert.equal(error.code, -32601);
  assert.equal(error.data.reason, "task_forbidden");
  assert.match(error.data.hint, /without params.task/);
  assert.equal(harness.loads, 0);
});

const WRONG_TASKS: readonly [Loose, string][] = [
  [null, "/task"],
  [true, "/task"],
  [[], "/task"],
  ["x", "/task"],
  [{ ttl: "60" }, "/task/ttl"],
  [{ ttl: -1 }, "/task/ttl"],
  [{ ttl: 1.5 }, "/task/ttl"],
  [{ ttl: 1e300 }, "/task/ttl"],
  [{ ttl: null }, "/task/ttl"],
];

for (const [task, pointer] of WRONG_TASKS) {
  Deno.test(`TASK-04 params.task ${JSON.stringify(task)} is -32602 at ${pointer}`, async () => {
    const harness = new Harness();
    const { error } = await harness.tool(EXECUTE, RUN, { task });
    assert.equal(error.code, -32602);
    assert.equal(error.data.errors[0].json_pointer, pointer);
    assert.equal(harness.loads, 0);
  });
}

Deno.test("TASK-04 params.task {} is enough, and a large ttl is the runner's to clamp", async () => {
  const harness = new Harness();
  assert.equal((await startMcp(harness)).status, "working");
  const clamped = await startMcp(harness, { ttl: 1e15 });
  assert.ok(clamped.ttl < 1e15);
  await harness.tasks.idle();
});

Deno.test("TASK-05 tasks/result is the direct call's result, with related-task metadata there and only there", async () => {
  const harness = new Harness();
  const direct = (await harness.tool(EXECUTE, { ...RUN, wait_seconds: 5 }))
    .result;
  const { taskId } = await startMcp(harness);
  const result = (await harness.request("tasks/result", { taskId })).result;
  const { _meta, ...rest } = result;
  assert.deepEqual(_meta, {
    "io.modelcontextprotocol/related-task": { taskId },
  });
  assert.deepEqual(
    { ...rest.structuredContent, task_id: "" },
    { ...direct.structuredContent, task_id: "" },
  );
  assert.deepEqual(rest.isError, direct.isError);
  const others = [
    await harness.request("tasks/get", { taskId }),
    await harness.request("tasks/list"),
    await harness.request("tasks/cancel", { taskId }),
  ];
  for (const other of others) {
    assert.ok(!JSON.stringify(other).includes("related-task"));
  }
});

const FAILURES: readonly [BridgeError, number][] = [
  [new BridgeError("NOT_FOUND", "No such workflow"), -32602],
  [new BridgeError("UPSTREAM_UNAVAILABLE", "CUO is away"), -32001],
];

for (const [thrown, code] of FAILURES) {
  Deno.test(`TASK-05 a run that failed with ${thrown.code} is answered by tasks/result with that error`, async () => {
    const harness = new Harness();
    harness.upstreams.behaviours.set("cuo.executeWorkflow", () => {
      throw thrown;
    });
    const { taskId } = await startMcp(harness);
    const { error } = await harness.request("tasks/result", { taskId });
    assert.equal(error.code, code);
    assert.equal(error.message, thrown.message);
    assert.equal(error.data.class, thrown.class);
    assert.equal(error.data.trace_id, harness.telemetry.spans[0]?.traceId);
    const inline = await start(harness, { ...RUN, wait_seconds: 5 });
    assert.equal(inline.status, "failed");
    assert.equal(inline.error.code, code);
    assert.equal(inline.error.message, thrown.message);
  });
}

Deno.test("tasks/result waits for the end, and gives a retryable error when the wait is over first", async () => {
  const harness = new Harness({ options: { resultTimeoutMs: 10 } });
  const gate = gated(harness);
  const { taskId } = await startMcp(harness);
  const early = await harness.request("tasks/result", { taskId });
  assert.equal(early.error.code, -32001);
  assert.equal(early.error.data.retryable, true);
  const waiting = harness.request("tasks/result", { taskId });
  gate.open();
  assert.equal((await waiting).result.structuredContent.status, "completed");
});

Deno.test("tasks/result of a cancelled task is an error that says so", async () => {
  const harness = new Harness();
  gated(harness);
  const { taskId } = await startMcp(harness);
  await harness.request("tasks/cancel", { taskId });
  const { error } = await harness.request("tasks/result", { taskId });
  assert.equal(error.code, -32602);
  assert.match(error.message, /cancelled/);
});

Deno.test("tasks/cancel of a finished task is -32602 and names its state", async () => {
  const harness = new Harness();
  const { taskId } = await startMcp(harness);
  await harness.tasks.idle();
  const { error } = await harness.request("tasks/cancel", { taskId });
  assert.equal(error.code, -32602);
  assert.match(error.data.hint, /completed/);
});

Deno.test("tasks/list gives MCP tasks a page at a time and refuses a strange cursor", async () => {
  const harness = new Harness();
  for (let i = 0; i < 60; i++) await startMcp(harness);
  await harness.tasks.idle();
  const first = (await harness.request("tasks/list")).result;
  assert.equal(first.tasks.length, 50);
  const second = (await harness.request("tasks/list", {
    cursor: first.nextCursor,
  })).result;
  assert.equal(second.tasks.length, 10);
  assert.equal(second.nextCursor, undefined);
  for (const cursor of [5, {}, "strange"]) {
    const { error } = await harness.request("tasks/list", { cursor });
    assert.equal(error.code, -32602);
  }
});

Deno.test("P2-AC08 P2-FM09 another tenant's, another subject's and an invented task are not found in the same words", async () => {
  const harness = new Harness();
  const { task_id } = await start(harness);
  await harness.tasks.idle();
  const seen = new Set<string>();
  const strangers = [
    principal({ tenantId: TENANT_B }),
    principal({ subject: "user-2" }),
  ];
  const ask = async (params: Loose) => {
    for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
      const { error } = await harness.request(method, params);
      assert.equal(error.data.class, "input_validation");
      const { trace_id: _, ...data } = error.data;
      seen.add(JSON.stringify({ ...error, data }));
    }
  };
  for (const stranger of strangers) {
    harness.caller = () => stranger;
    await ask({ id: task_id });
    await ask({ taskId: task_id });
  }
  harness.caller = () => principal();
  for (const id of ["t-0", "", "x".repeat(5000), "\ud800", "a\0b"]) {
    await ask({ id });
  }
  assert.deepEqual(seen.size, 1);
  const own = await harness.request("tasks/get", { id: task_id });
  assert.equal(own.result.status, "completed");
});

Deno.test("what cannot be a task id never reaches the store", async () => {
  const harness = new Harness();
  harness.tasks.failure = new Error("the store was asked");
  for (const id of ["", "x".repeat(5000), "\ud800", "a\0b"]) {
    const { error } = await harness.request("tasks/get", { id });
    assert.equal(error.code, -32602);
  }
  const { error } = await harness.request("tasks/get", { id: "t-1" });
  assert.equal(error.code, -32603);
});

Deno.test("task ids of a wrong type are -32602 with their place; id and taskId must agree", async () => {
  const harness = new Harness();
  const pointer = async (params: Loose) =>
    (await harness.request("tasks/get", params)).error.data.errors[0]
      .json_pointer;
  assert.equal(await pointer({}), "/id");
  assert.equal(await pointer({ id: 5 }), "/id");
  assert.equal(await pointer({ taskId: 5 }), "/taskId");
  assert.equal(await pointer({ id: "a", taskId: "b" }), "/id");
});

Deno.test("tasks/* ask for the token, and answer authz_denied without one", async () => {
  const harness = new Harness();
  harness.caller = () => {
    throw new BridgeError("TOKEN_EXPIRED", "Token expired");
  };
  for (const verb of ["get", "result", "list", "cancel"]) {
    const { error } = await harness.request(`tasks/${verb}`, { id: "t-1" });
    assert.equal(error.code, -32000);
    assert.match(error.data.hint, /expired/);
  }
  assert.equal(harness.loads, 0);
});

Deno.test("P2-FM05 D9 without the store, task tools and tasks/* are upstream_unavailable and the short tools work", async () => {
  const harness = new Harness();
  harness.tasks.failure = new BridgeError("STORE_UNAVAILABLE", "No store");
  const { error } = await harness.tool(EXECUTE, RUN);
  assert.equal(error.code, -32001);
  assert.match(error.data.hint, /short tools/);
  const got = await harness.request("tasks/get", { id: "t-1" });
  assert.equal(got.error.data.class, "upstream_unavailable");
  const short = await harness.tool("cyberos.cuo.list_personas");
  assert.equal(short.result.isError, false);
});

Deno.test("wait_seconds answers the result when it is there, with progress under the caller's token", async () => {
  const harness = new Harness();
  const { result } = await harness.tool(EXECUTE, { ...RUN, wait_seconds: 5 }, {
    meta: { progressToken: 0 },
  });
  assert.equal(result.structuredContent.status, "completed");
  assert.deepEqual(
    harness.notified.map(({ params }) => [
      params["progressToken"],
      params["progress"],
      params["total"],
      params["message"],
    ]),
    [[0, 1, 2, "first"], [0, 2, 2, "second"]],
  );
});

Deno.test("a caller without a progress token hears no progress", async () => {
  const harness = new Harness();
  await harness.tool(EXECUTE, { ...RUN, wait_seconds: 5 });
  assert.deepEqual(harness.notified, []);
});

Deno.test("progress only ever grows: a report that does not is dropped", async () => {
  const harness = new Harness();
  harness.upstreams.behaviours.set("cuo.executeWorkflow", (_, context) => {
    if (!("onProgress" in context)) throw new Error("no progress");
    for (const step of [1, 1, 3, 2, NaN, 4]) context.onProgress({ step });
    return {};
  });
  await harness.tool(EXECUTE, { ...RUN, wait_seconds: 5 }, {
    meta: { progressToken: "p" },
  });
  const steps = harness.notified.map(({ params }) => params["progress"]);
  assert.deepEqual(steps, [1, 3, 4]);
});

Deno.test("repeating a call with its idempotency_key polls and collects the one task", async () => {
  const harness = new Harness();
  const gate = gated(harness);
  const args = { ...RUN, idempotency_key: "monday" };
  const first = await start(harness, args);
  const again = await start(harness, args);
  assert.equal(again.task_id, first.task_id);
  assert.equal(again.status, "running");
  gate.open();
  await harness.tasks.idle();
  const collected = await start(harness, { ...args, wait_seconds: 30 });
  assert.equal(collected.task_id, first.task_id);
  assert.equal(collected.status, "completed");
  assert.equal(harness.tasks.starts.length, 1);
  const other = await harness.tool(EXECUTE, { ...args, workflow: "other" });
  assert.equal(other.error.data.class, "input_validation");
});

Deno.test("the options of a task are not part of its input", async () => {
  const harness = new Harness();
  await start(harness, {
    ...RUN,
    wait_seconds: 1,
    timeout_seconds: 5,
    idempotency_key: "k",
  });
  const [request] = harness.tasks.starts;
  assert.deepEqual(request?.input, RUN);
  assert.equal(request?.timeoutMs, 5000);
  await start(harness);
  assert.equal(harness.tasks.starts[1]?.timeoutMs, 600_000);
  await harness.tasks.idle();
});

Deno.test("invoke_skill runs its skill as a task", async () => {
  const harness = new Harness();
  const { result } = await harness.tool("cyberos.skill.invoke_skill", {
    skill_id: "audit",
    inputs: { a: 1 },
    wait_seconds: 5,
  }, { meta: CONFIRMED });
  assert.deepEqual(result.structuredContent.output, { ran: "audit" });
  assert.deepEqual(harness.upstreams.calls[0]?.input, {
    skillId: "audit",
    inputs: { a: 1 },
  });
});
