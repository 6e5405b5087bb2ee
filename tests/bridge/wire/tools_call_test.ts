/** tools/call: the order of refusals, and what each one says. */
import assert from "node:assert/strict";
import { BridgeError } from "../../../bridge/errors.ts";
import {
  CONFIRMED,
  Harness,
  type Loose,
  principal,
  RUN,
} from "../../support/bridge_harness.ts";
import { TENANT_A, TENANT_B } from "../../support/tokens.ts";

const APPEND = { kind: "decision", body: { text: "We build it" } };
const READ_ONLY = ["cyberos:cuo:list", "cyberos:memory:read"];

Deno.test("each of the short tools answers text and matching structured content", async () => {
  const harness = new Harness();
  const calls: [string, unknown][] = [
    ["cyberos.cuo.list_personas", {}],
    ["cyberos.cuo.list_workflows", { persona: "chief-technology-officer" }],
    ["cyberos.cuo.route", { query: "Architect a payment system" }],
    ["cyberos.memory.read_audit", {}],
    ["cyberos.memory.append_audit", APPEND],
    ["cyberos.skill.list_catalog", {}],
  ];
  for (const [name, args] of calls) {
    const { result } = await harness.tool(name, args, { meta: CONFIRMED });
    assert.equal(result.isError, false, name);
  }
  assert.deepEqual(harness.upstreams.methods, [
    "cuo.listPersonas",
    "cuo.listWorkflows",
    "cuo.route",
    "memory.readAudit",
    "memory.appendAudit",
    "skills.list",
  ]);
});

Deno.test("cyberos.cuo.route answers in the specification's shape, and says when nothing fits", async () => {
  const harness = new Harness();
  const found = await harness.tool("cyberos.cuo.route", { query: "x" });
  assert.deepEqual(JSON.parse(found.result.content[0].text), {
    persona: "chief-technology-officer",
    workflow: "architect-new-system",
    confidence: 0.92,
    alternates: ["chief-product-officer/product-roadmap"],
    matched: true,
  });
  harness.upstreams.routes = {
    confidence: NaN,
    alternates: [],
    hint: "Say more",
  };
  const none = await harness.tool("cyberos.cuo.route", { query: "x" });
  assert.deepEqual(none.result.structuredContent, {
    confidence: 0,
    alternates: [],
    matched: false,
    hint: "Say more",
  });
});

Deno.test("P2-AC09 P2-FM11 a missing persona is input_validation with its pointer, and no upstream is touched", async () => {
  const harness = new Harness();
  const { persona: _, ...args } = RUN;
  const { error } = await harness.tool("cyberos.cuo.execute_workflow", args);
  assert.equal(error.code, -32602);
  assert.equal(error.data.class, "input_validation");
  assert.equal(error.data.errors[0].json_pointer, "/arguments/persona");
  assert.equal(error.data.errors[0].constraint, "required");
  assert.equal(harness.loads, 0);
  const good = await harness.tool("cyberos.cuo.execute_workflow", RUN);
  assert.equal(good.result.structuredContent.status, "running");
  await harness.tasks.idle();
});

Deno.test("P2-AC10 P2-FM08 a read-only token cannot append: authz_denied with missing_scopes", async () => {
  const harness = new Harness();
  harness.caller = () => principal({ scopes: READ_ONLY });
  const { error } = await harness.tool("cyberos.memory.append_audit", APPEND);
  assert.equal(error.code, -32000);
  assert.equal(error.data.class, "authz_denied");
  assert.deepEqual(error.data.missing_scopes, ["cyberos:memory:write"]);
  assert.match(error.data.hint, /cyberos:memory:write/);
  assert.equal(harness.loads, 0);
  harness.caller = () => principal({ scopes: ["cyberos:memory:write"] });
  const { result } = await harness.tool("cyberos.memory.append_audit", APPEND, {
    meta: CONFIRMED,
  });
  assert.deepEqual(result.structuredContent.seq, 1);
});

Deno.test("AUTH-14 the refusal names every scope that the call needs, not the new ones only", async () => {
  const harness = new Harness();
  harness.caller = () => principal({ scopes: ["cyberos:cuo:execute"] });
  const answer = await harness.answer({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "cyberos.cuo.execute_workflow", arguments: RUN },
  });
  assert.equal(answer?.error?.code, "SCOPE_MISSING");
  assert.deepEqual(answer?.error?.data, {
    missing_scopes: ["cyberos:memory:write"],
    required_scopes: ["cyberos:cuo:execute", "cyberos:memory:write"],
  });
});

Deno.test("AUTH-13 a missing scope is known before anything of the call runs or streams", async () => {
  const harness = new Harness();
  harness.caller = () => principal({ scopes: READ_ONLY });
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "cyberos.cuo.execute_workflow",
      arguments: RUN,
      task: {},
      _meta: { progressToken: 1 },
    },
  };
  const refused = await harness.protocol.admit(message, harness.exchange());
  assert.equal(refused.kind, "answer");
  harness.caller = () => principal();
  const admitted = await harness.protocol.admit(message, harness.exchange());
  assert.ok(admitted.kind === "call" && admitted.wantsProgress);
  await admitted.run();
  await harness.tasks.idle();
});

Deno.test("P2-AC11 memory that cannot be reached is upstream_unavailable, not internal_error", async () => {
  const harness = new Harness();
  harness.upstreams.behaviours.set("memory.readAudit", () => {
    throw new BridgeError("UPSTREAM_UNAVAILABLE", "Memory cannot be reached", {
      retryAfterSeconds: 2,
    });
  });
  const { error } = await harness.tool("cyberos.memory.read_audit");
  assert.equal(error.code, -32001);
  assert.equal(error.data.class, "upstream_unavailable");
  assert.equal(error.data.retryable, true);
  assert.equal(error.data.retry_after_seconds, 2);
});

Deno.test("P2-AC12 P2-FM12 a bug in a handler is internal_error, a panic on the span, and the bridge lives", async () => {
  const harness = new Harness();
  harness.upstreams.behaviours.set("cuo.listPersonas", () => {
    throw new TypeError("secret-marker is not a function");
  });
  const { error } = await harness.tool("cyberos.cuo.list_personas");
  assert.equal(error.code, -32603);
  assert.equal(error.data.class, "internal_error");
  assert.equal(error.message, "Internal error");
  assert.ok(!JSON.stringify(error).includes("secret-marker"));
  const [span] = harness.telemetry.spans;
  assert.equal(span?.attributes["cyberos.outcome"], "panic");
  assert.equal(span?.errorType, "panic");
  const line = harness.log.lines.find(({ level }) => level === "error");
  assert.match(String(line?.fields["error"]), /secret-marker/);
  assert.equal(line?.fields["trace_id"], error.data.trace_id);
  harness.upstreams.behaviours.clear();
  const { result } = await harness.tool("cyberos.cuo.list_personas");
  assert.equal(result.isError, false);
});

Deno.test("P2-AC12 a transport learns of a bug as INTERNAL, never as the thing that was thrown", async () => {
  const harness = new Harness();
  harness.upstreams.behaviours.set("cuo.listPersonas", () => {
    throw new TypeError("secret-marker");
  });
  const answer = await harness.answer({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "cyberos.cuo.list_personas" },
  });
  assert.equal(answer?.error?.code, "INTERNAL");
  assert.ok(!String(answer?.error?.message).includes("secret-marker"));
});

Deno.test("a handler that throws what is no error is a panic too", async () => {
  const harness = new Harness();
  for (const thrown of ["text", null, undefined, 7]) {
    harness.upstreams.behaviours.set("cuo.route", () => {
      throw thrown;
    });
    const { error } = await harness.tool("cyberos.cuo.route", { query: "x" });
    assert.equal(error.code, -32603);
    const span = harness.telemetry.spans.at(-1);
    assert.equal(span?.attributes["cyberos.outcome"], "panic");
  }
});

const FOUR: readonly [
  string,
  number,
  (harness: Harness) => Promise<Loose>,
][] = [
  ["input_validation", -32602, (h) => h.tool("cyberos.cuo.route", {})],
  ["authz_denied", -32000, (h) => {
    h.caller = () => principal({ scopes: [] });
    return h.tool("cyberos.cuo.route", { query: "x" });
  }],
  ["upstream_unavailable", -32001, (h) => {
    h.upstreams.behaviours.set("cuo.route", () => {
      throw new BridgeError("UPSTREAM_TIMEOUT", "CUO took too long");
    });
    return h.tool("cyberos.cuo.route", { query: "x" });
  }],
  ["internal_error", -32603, (h) => {
    h.upstreams.behaviours.set("cuo.route", () => {
      throw new RangeError("bug");
    });
    return h.tool("cyberos.cuo.route", { query: "x" });
  }],
];

for (const [errorClass, code, provoke] of FOUR) {
  Deno.test(`P2-AC13 an error of class ${errorClass} has code ${code}, the span's trace id and a hint`, async () => {
    const harness = new Harness();
    const { error } = await provoke(harness);
    assert.equal(error.code, code);
    assert.equal(error.data.class, errorClass);
    assert.match(error.data.trace_id, /^[0-9a-f]{32}$/);
    assert.equal(error.data.trace_id, harness.telemetry.spans[0]?.traceId);
    assert.ok(error.data.hint.length > 10);
  });
}

Deno.test("HTTP-28 the class is readable without the number, and retryable says what to do", async () => {
  const harness = new Harness();
  harness.caller = () => principal({ scopes: [] });
  const denied = await harness.tool("cyberos.cuo.route", { query: "x" });
  assert.equal(denied.error.data.retryable, false);
  harness.caller = () => principal();
  harness.upstreams.behaviours.set("cuo.route", () => {
    throw new BridgeError("UPSTREAM_UNAVAILABLE", "CUO is away");
  });
  const away = await harness.tool("cyberos.cuo.route", { query: "x" });
  assert.equal(away.error.data.retryable, true);
});

Deno.test("P2-AC14 each tool call has one span with the specification's attributes", async () => {
  const harness = new Harness();
  await harness.tool("cyberos.cuo.route", { query: "x" });
  const [span] = harness.telemetry.spans;
  assert.equal(harness.telemetry.spans.length, 1);
  assert.equal(span?.name, "tools/call cyberos.cuo.route");
  assert.equal(span?.ended, 1);
  assert.equal(span?.errorType, undefined);
  assert.deepEqual(span?.attributes, {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "cyberos.cuo.route",
    "network.transport": "tcp",
    "cyberos.plugin_id": "cyberos",
    "cyberos.tool_name": "cyberos.cuo.route",
    "cyberos.tenant_id": TENANT_A,
    "cyberos.trace_id": span?.traceId,
    "cyberos.duration_ms": 0,
    "cyberos.outcome": "success",
  });
});

Deno.test("the span of an unknown tool never carries the caller's text", async () => {
  const harness = new Harness();
  await harness.tool("cyberos.secret-marker");
  const [span] = harness.telemetry.spans;
  assert.equal(span?.name, "tools/call _unknown");
  assert.equal(span?.attributes["gen_ai.tool.name"], "_unknown");
  assert.ok(!JSON.stringify(span).includes("secret-marker"));
  assert.equal(span?.errorType, "input_validation");
});

Deno.test("D3 the caller's trace goes on through the span to the upstream", async () => {
  const harness = new Harness();
  const trace = "0af7651916cd43dd8448eb211c80319c";
  await harness.tool("cyberos.cuo.route", { query: "x" }, {
    meta: { traceparent: `00-${trace}-b7ad6b7169203331-01` },
  });
  assert.equal(harness.telemetry.spans[0]?.traceId, trace);
  assert.match(harness.upstreams.calls[0]?.traceparent ?? "", RegExp(trace));
});

Deno.test("P2-AC16 the next call with another tenant's token gets that tenant's rows", async () => {
  const harness = new Harness();
  await harness.tool("cyberos.memory.append_audit", APPEND, {
    meta: CONFIRMED,
  });
  const a = await harness.tool("cyberos.memory.read_audit");
  harness.caller = () => principal({ tenantId: TENANT_B });
  const b = await harness.tool("cyberos.memory.read_audit");
  assert.equal(a.result.structuredContent.rows.length, 1);
  assert.equal(b.result.structuredContent.rows.length, 0);
  assert.deepEqual(
    harness.upstreams.calls.map(({ tenantId }) => tenantId),
    [TENANT_A, TENANT_A, TENANT_B],
  );
  assert.equal(harness.authentications, 3);
});

Deno.test("P2-AC22 a failing read_audit says nothing of any row", async () => {
  const harness = new Harness();
  harness.upstreams.behaviours.set("memory.readAudit", () => {
    throw new BridgeError("UPSTREAM_UNAVAILABLE", "Memory cannot answer", {
      cause: new Error("row 4827 about alice: salary 4000"),
    });
  });
  const response = await harness.tool("cyberos.memory.read_audit", {
    since_seq: 4826,
  });
  const text = JSON.stringify(response);
  assert.ok(!/4827|alice|salary/.test(text), text);
  assert.match(response.error.data.trace_id, /^[0-9a-f]{32}$/);
  const logged = JSON.stringify(harness.log.lines);
  assert.ok(logged.includes("alice"), "the operator's log has the cause");
});

const WRONG_ARGUMENTS: readonly [string, unknown, string][] = [
  ["a missing field", {}, "/arguments/query"],
  ["a wrong type", { query: 5 }, "/arguments/query"],
  ["an empty text", { query: "" }, "/arguments/query"],
  ["an unknown field", { query: "x", extra: 1 }, "/arguments/extra"],
  ["an array", [], "/arguments"],
  ["JSON in a text", '{"query":"x"}', "/arguments"],
  ["a number", 5, "/arguments"],
];

for (const [title, args, pointer] of WRONG_ARGUMENTS) {
  Deno.test(`HTTP-24 arguments with ${title} are -32602 at ${pointer}`, async () => {
    const harness = new Harness();
    const { error } = await harness.tool("cyberos.cuo.route", args);
    assert.equal(error.code, -32602);
    assert.equal(error.data.class, "input_validation");
    assert.equal(error.data.errors[0].json_pointer, pointer);
    assert.equal(harness.loads, 0);
  });
}

Deno.test("HTTP-24 wrong arguments are the same error on both transports and as a task", async () => {
  const harness = new Harness();
  const seen = new Set<string>();
  for (const transport of ["http", "stdio"] as const) {
    for (const task of [undefined, {}]) {
      const { error } = await harness.tool(
        "cyberos.cuo.execute_workflow",
        { ...RUN, inputs: "none" },
        { exchange: { transport }, ...(task === undefined ? {} : { task }) },
      );
      const { trace_id: _, ...data } = error.data;
      seen.add(JSON.stringify({ ...error, data }));
    }
  }
  assert.equal(seen.size, 1);
  assert.equal(harness.loads, 0);
});

Deno.test("HTTP-24 arguments absent or null are {}", async () => {
  const harness = new Harness();
  for (const args of [undefined, null, {}]) {
    const { result } = await harness.tool("cyberos.cuo.list_personas", args);
    assert.equal(result.isError, false);
  }
});

Deno.test("HTTP-25 one bad field is reported alone, with what is wanted, and nothing is coerced", async () => {
  const harness = new Harness();
  for (const limit of ["five", "5", 5.5, null, 0, 501]) {
    const { error } = await harness.tool("cyberos.memory.read_audit", {
      kind: "decision",
      limit,
    });
    assert.equal(error.data.errors.length, 1);
    assert.equal(error.data.errors[0].json_pointer, "/arguments/limit");
  }
  assert.equal(harness.upstreams.calls.length, 0);
});

Deno.test("HTTP-25 5.0 is an integer and 1e400 is refused", async () => {
  const harness = new Harness();
  const send = async (limit: string) =>
    (await harness.protocol.handle(
      JSON.parse(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cyberos.memory.read_audit","arguments":{"limit":${limit}}}}`,
      ),
      harness.exchange(),
    ))?.response as Loose;
  assert.equal((await send("5.0")).result.isError, false);
  const { error } = await send("1e400");
  assert.equal(error.code, -32602);
  assert.equal(error.data.errors[0].json_pointer, "/arguments/limit");
});

Deno.test("HTTP-25 a number beyond double is refused wherever it stands, as JSON could not repeat it", async () => {
  const harness = new Harness();
  const answer = await harness.protocol.handle(
    JSON.parse(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cyberos.memory.append_audit","arguments":{"kind":"k","body":{"a":[1,-1e400]}},"_meta":{"mcp/sampling/elicit_confirm":true}}}`,
    ),
    harness.exchange(),
  );
  const { error }: Loose = answer?.response;
  assert.equal(error.data.errors[0].json_pointer, "/arguments/body/a/1");
  assert.equal(harness.loads, 0);
});

const UNHOLDABLE: readonly [string, unknown, string][] = [
  ["a lone surrogate", { a: { "b/c": "x\ud800" } }, "/a/b~1c"],
  ["U+0000", { a: ["ok", "x\0y"] }, "/a/1"],
  ["U+0000 in a name", { "x\0": 1 }, "/x\uFFFD"],
];

for (const [title, body, pointer] of UNHOLDABLE) {
  Deno.test(`text with ${title} is refused where it stands, as no store can hold it`, async () => {
    const harness = new Harness();
    const { error } = await harness.tool("cyberos.memory.append_audit", {
      kind: "decision",
      body,
    }, { meta: CONFIRMED });
    assert.equal(error.code, -32602);
    assert.equal(
      error.data.errors[0].json_pointer,
      `/arguments/body${pointer}`,
    );
    assert.equal(harness.loads, 0);
  });
}

Deno.test("STD-02 text beyond the Basic Multilingual Plane reaches the upstream unchanged", async () => {
  const harness = new Harness();
  const query = "né — 𝄞 한\u2028\u2029\u0085";
  await harness.tool("cyberos.cuo.route", { query });
  assert.equal(harness.upstreams.calls[0]?.input, query);
});

for (
  const name of [
    "cyberos.memory.append_Audit",
    "cyberos.memory.append_audit ",
    " cyberos.memory.append_audit",
    "ｃyberos.memory.append_audit",
    "cyberos:cyberos.memory.append_audit",
    "mcp__cyberos__cyberos_memory_append_audit",
    "constructor",
    "__proto__",
    "",
  ]
) {
  Deno.test(`AUTH-22 the name ${JSON.stringify(name)} is unknown, on both transports and as a task`, async () => {
    const harness = new Harness();
    for (const transport of ["http", "stdio"] as const) {
      for (const task of [undefined, {}]) {
        const { error } = await harness.tool(name, APPEND, {
          meta: CONFIRMED,
          exchange: { transport },
          ...(task === undefined ? {} : { task }),
        });
        assert.equal(error.code, -32602);
        assert.match(error.message, /^Unknown tool/);
      }
    }
    assert.equal(harness.loads, 0);
    assert.equal(harness.authentications, 0);
  });
}

Deno.test("names, _meta and tasks of a wrong shape are -32602 with their place", async () => {
  const harness = new Harness();
  const call = async (params: unknown) =>
    (await harness.request("tools/call", params)).error.data.errors[0]
      .json_pointer;
  assert.equal(await call({}), "/name");
  assert.equal(await call({ name: 5 }), "/name");
  assert.equal(await call({ name: "cyberos.cuo.route", _meta: 5 }), "/_meta");
});

Deno.test("a place among the running calls is taken after the checks and given back", async () => {
  let running = 0;
  let most = 0;
  const harness = new Harness({
    enter: () => {
      if (running >= 1) throw new BridgeError("BUSY", "Too many calls");
      most = Math.max(most, ++running);
      return () => running--;
    },
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.upstreams.behaviours.set("cuo.listPersonas", async () => {
    await promise;
    return [];
  });
  const slow = harness.tool("cyberos.cuo.list_personas");
  const refused = await harness.tool("cyberos.cuo.list_personas");
  assert.equal(refused.error.code, -32001);
  assert.equal(refused.error.data.retryable, true);
  resolve();
  assert.equal((await slow).result.isError, false);
  assert.equal(running, 0);
  const invalid = await harness.tool("cyberos.cuo.route", {});
  assert.equal(invalid.error.code, -32602);
  assert.equal(most, 1);
});

Deno.test("P2-FM04 a call that outlives its deadline is upstream_unavailable and its signal aborts", async () => {
  const harness = new Harness({ options: { callTimeoutMs: 20 } });
  // It even ignores the signal: the caller is answered all the same.
  harness.upstreams.behaviours.set(
    "cuo.listPersonas",
    () => new Promise(() => {}),
  );
  const { error } = await harness.tool("cyberos.cuo.list_personas");
  assert.equal(error.code, -32001);
  assert.equal(error.data.class, "upstream_unavailable");
  assert.ok(harness.upstreams.calls[0]?.signal.aborted);
});

Deno.test("the token is judged before the arguments are: a caller without one learns nothing of them", async () => {
  const harness = new Harness();
  harness.caller = () => {
    throw new BridgeError("TOKEN_MISSING", "No token");
  };
  const { error } = await harness.tool("cyberos.cuo.route", { wrong: true });
  assert.equal(error.code, -32000);
  assert.equal(error.data.errors, undefined);
});
