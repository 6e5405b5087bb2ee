/** CUO over JSON-RPC: what it answers, and every way in which its child fails. */
import assert from "node:assert/strict";
import { SCRIPT } from "../../support/fake_cuo/install.ts";
import { eventually, refusal } from "../../support/upstream_context.ts";
import { after, CTO, type CuoBench, withCuo } from "./cuo_bench.ts";

const QUERY = "Architect a payment system";

/** The control after each failure: the same port serves, by itself. */
async function serves(bench: CuoBench): Promise<void> {
  const personas = await bench.cuo.listPersonas(bench.context());
  assert.equal(personas.length, SCRIPT.personas.length);
}

/** For each start of a child its number of messages. */
function starts(bench: CuoBench): number {
  return bench.fake.journal().filter((entry) => entry.event === "start").length;
}

Deno.test("createCuo() reads personas, workflows and routes over JSON-RPC", () =>
  withCuo({}, {}, async (bench) => {
    const { cuo } = bench;
    const personas = await cuo.listPersonas(bench.context());
    assert.deepEqual(personas[0], {
      slug: CTO,
      title: "Chief Technology Officer",
      status: "shipped",
      workflowCount: 2,
    });
    const workflows = await cuo.listWorkflows(CTO, bench.context());
    assert.deepEqual(workflows[0], {
      slug: "adr-quick-capture",
      cadence: "on-demand",
      inputs: ["decision_context"],
      outputs: ["adr"],
      skillChain: ["decision-author", "decision-audit"],
    });
    const route = await cuo.route(QUERY, bench.context());
    assert.equal(
      `${route.persona}/${route.workflow}`,
      `${CTO}/architect-new-system`,
    );
    assert.equal(route.confidence, 0.66);
    assert.equal(starts(bench), 1, "short calls share one child");
  }));

Deno.test("createCuo() answers a request that nothing fits with a hint", () =>
  withCuo({}, {}, async (bench) => {
    const route = await bench.cuo.route("zzz", bench.context());
    assert.equal(route.persona, undefined);
    assert.equal(route.confidence, 0);
    assert.match(route.hint ?? "", /list_personas/);
  }));

Deno.test("createCuo() names the nearest persona for an unknown one", () =>
  withCuo({}, {}, async (bench) => {
    for (
      const name of ["chief-tecnology-officer", "CTO", "../../etc", "--help"]
    ) {
      const error = await refusal(
        bench.cuo.listWorkflows(name, bench.context()),
      );
      assert.equal(error.code, "NOT_FOUND", name);
      assert.equal(error.class, "input_validation");
    }
    const error = await refusal(
      bench.cuo.listWorkflows("cto", bench.context()),
    );
    assert.match(error.hint, /chief-technology-officer/);
    await serves(bench);
  }));

Deno.test("createCuo() refuses answers with wrong numbers, names or shapes", async () => {
  const persona = SCRIPT.personas[0]!;
  const bad: readonly [string, unknown][] = [
    ["list_personas", { personas: [{ ...persona, workflow_count: -1 }] }],
    ["list_personas", { personas: [{ ...persona, workflow_count: 1.5 }] }],
    ["list_personas", {
      personas: [{ ...persona, workflow_count: 2, slug: "../x" }],
    }],
    ["list_personas", {
      personas: [
        { ...persona, workflow_count: 2 },
        { ...persona, workflow_count: 2 },
      ],
    }],
    ["list_personas", { personas: "none" }],
    ["list_personas", null],
    ["list_workflows", {
      workflows: [{
        slug: "a",
        cadence: 1,
        inputs: [],
        outputs: [],
        skill_chain: [],
      }],
    }],
    ["route", {
      persona: CTO,
      workflow: "x",
      confidence: 1.01,
      alternates: [],
    }],
    ["route", {
      persona: CTO,
      workflow: "x",
      confidence: "high",
      alternates: [],
    }],
    ["route", {
      persona: CTO,
      workflow: "x",
      confidence: 0.5,
      alternates: ["a/b/c"],
    }],
    ["route", {
      persona: "<script>",
      workflow: "x",
      confidence: 0.5,
      alternates: [],
    }],
  ];
  for (const [method, result] of bad) {
    await withCuo({ rules: [{ method, result }] }, {}, async (bench) => {
      const call = method === "list_personas"
        ? bench.cuo.listPersonas(bench.context())
        : method === "route"
        ? bench.cuo.route(QUERY, bench.context())
        : bench.cuo.listWorkflows(CTO, bench.context());
      const error = await refusal(call);
      assert.equal(error.code, "UPSTREAM_UNAVAILABLE", JSON.stringify(result));
      assert.match(error.message, /contract/);
    });
  }
});

Deno.test("createCuo() shows nothing of what CUO's error says", () =>
  withCuo(
    { rules: [{ method: "route", error: -32000 }] },
    {},
    async (bench) => {
      const error = await refusal(bench.cuo.route(QUERY, bench.context()));
      assert.equal(error.class, "upstream_unavailable");
      assert.ok(
        !JSON.stringify([error.message, error.hint, error.data]).includes(
          "secret",
        ),
      );
      await serves(bench);
    },
  ));

Deno.test("createCuo() tells a method that CUO lacks from a failure", () =>
  withCuo(
    { rules: [{ method: "route", error: -32601 }] },
    {},
    async (bench) => {
      const error = await refusal(bench.cuo.route(QUERY, bench.context()));
      assert.equal(error.class, "upstream_unavailable");
      assert.match(error.hint, /update cyberos-cuo/);
      assert.equal(error.retryable, false);
    },
  ));

Deno.test("STD-03 STD-04 createCuo() reads odd separators, marks and line ends in answers", () => {
  const title = "a\u2028b\u2029c\u0085d\u000be";
  const answer = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    result: {
      personas: [{ slug: "x", title, status: "shipped", workflow_count: 0 }],
    },
  });
  return withCuo(
    {
      preamble: "\uFEFF\r\n",
      rules: [{
        method: "list_personas",
        stdout: `\uFEFF${answer}\r\n`,
        silent: true,
      }],
    },
    {},
    async (bench) => {
      const [persona] = await bench.cuo.listPersonas(bench.context());
      assert.equal(persona?.title, title);
    },
  );
});

Deno.test("STD-07 createCuo() writes nothing in answer to garbage, and the call still succeeds", () =>
  withCuo(
    {
      chatter:
        'log: got a line\n[1]\nnull\n{"jsonrpc":"2.0","id":null,"error":{}}\n',
    },
    {},
    async (bench) => {
      await serves(bench);
      await bench.cuo.route(QUERY, bench.context());
      const messages = bench.fake.journal().filter((e) =>
        e.event === "message"
      );
      assert.equal(messages.length, 2);
    },
  ));

Deno.test("STD-07 createCuo() ends a call at its deadline where only garbage comes", () =>
  withCuo(
    {
      chatter: "log: got a line\n",
      rules: [{ method: "route", silent: true }],
    },
    {},
    async (bench) => {
      const error = await refusal(
        bench.cuo.route(QUERY, bench.context({ signal: after(300) })),
      );
      assert.equal(error.code, "UPSTREAM_TIMEOUT");
      assert.equal(error.class, "upstream_unavailable");
      await serves(bench);
    },
  ));

Deno.test("STD-20 createCuo() ends a child that spews without end, quickly and in bounded memory", () =>
  withCuo(
    {
      rules: [{
        method: "route",
        repeat: { text: "spew ".repeat(200) + "\n", times: 20_000 },
        silent: true,
      }],
    },
    {},
    async (bench) => {
      const started = performance.now();
      const error = await refusal(bench.cuo.route(QUERY, bench.context()));
      assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
      assert.match(error.message, /wrote too much/);
      assert.ok(performance.now() - started < 3_000);
      await serves(bench);
    },
  ));

Deno.test("STD-20 createCuo() refuses an answer larger than allowed, and recovers", () =>
  withCuo(
    {
      rules: [{
        method: "route",
        repeat: { text: "x".repeat(1000), times: 200 },
        silent: true,
      }],
    },
    { limits: { maxLineBytes: 100_000 } },
    async (bench) => {
      const error = await refusal(bench.cuo.route(QUERY, bench.context()));
      assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
      assert.match(error.message, /larger than allowed/);
      await serves(bench);
    },
  ));

Deno.test("STD-21 P2-FM03 createCuo() fails a call whose child crashes in under a second, and starts a fresh child for the next", () =>
  withCuo({ rules: [{ method: "route", exit: 137 }] }, {}, async (bench) => {
    await serves(bench);
    const started = performance.now();
    const error = await refusal(bench.cuo.route(QUERY, bench.context()));
    assert.ok(performance.now() - started < 1_000);
    assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
    assert.equal(error.class, "upstream_unavailable");
    assert.match(error.message, /CUO exited/);
    assert.ok(!JSON.stringify([error.message, error.hint]).includes("/"));
    await serves(bench);
    assert.equal(starts(bench), 2);
  }));

Deno.test("STD-21 createCuo() fails a call whose child closes its output but lives", () =>
  withCuo({}, {}, async (bench) => {
    bench.fake.shell("read -r line; exec 1>&-; exec sleep 60");
    const started = performance.now();
    const error = await refusal(bench.cuo.route(QUERY, bench.context()));
    assert.ok(performance.now() - started < 1_000);
    assert.match(error.message, /closed its output/);
    bench.fake.unshell();
    await serves(bench);
  }));

Deno.test("STD-21 createCuo() replaces a child that exits while idle", () =>
  withCuo(
    { rules: [{ method: "list_workflows", delayMs: 50, exit: 0 }] },
    {},
    async (bench) => {
      await serves(bench);
      const first = bench.fake.journal()[0]!.pid;
      // A caller who gave up: the exit falls into idleness.
      await refusal(
        bench.cuo.listWorkflows(CTO, bench.context({ signal: after(10) })),
      );
      await eventually(() =>
        bench.log.lines.some((line) => line.event === "cuo child ended")
      );
      await serves(bench);
      assert.notEqual(
        bench.fake.journal().findLast((e) => e.event === "start")!.pid,
        first,
      );
    },
  ));

Deno.test("STD-21 createCuo() backs off from a child that keeps crashing, says when to come back, and recovers", () =>
  withCuo({ rules: [{ exit: 3 }] }, {
    limits: { backoffMs: 600, patienceMs: 50, maxBackoffMs: 600 },
  }, async (bench) => {
    const codes: string[] = [];
    for (let i = 0; i < 6; i++) {
      const error = await refusal(bench.cuo.route(QUERY, bench.context()));
      codes.push(error.message);
      if (error.message === "CUO keeps failing") {
        assert.equal(error.retryAfterSeconds, 1);
      }
    }
    assert.ok(starts(bench) < 6, "it was started for every call");
    assert.ok(codes.includes("CUO keeps failing"), codes.join());
    bench.fake.script(SCRIPT);
    await new Promise((resolve) => setTimeout(resolve, 700));
    await serves(bench);
    assert.equal((await bench.cuo.status(after(5_000))).state, "ok");
  }));

Deno.test("STD-21 status() shows a CUO that is down, and that it is back", async () => {
  await withCuo({ rules: [{ exit: 3 }] }, {}, async (bench) => {
    const status = await bench.cuo.status(after(5_000));
    assert.equal(status.state, "down");
    assert.ok(!JSON.stringify(status).includes("/"));
  });
  await withCuo({}, {}, async (bench) => {
    assert.deepEqual(await bench.cuo.status(after(5_000)), {
      name: "cuo",
      state: "ok",
    });
  });
});

Deno.test("STD-22 createCuo() survives a child that closed its stdin", () =>
  withCuo({}, {}, async (bench) => {
    bench.fake.shell("exec 0<&-; exec sleep 60");
    // The first bytes may still fit into the pipe before it is closed.
    for (let i = 0; i < 2; i++) {
      const started = performance.now();
      const error = await refusal(
        bench.cuo.route(QUERY, bench.context({ signal: after(400) })),
      );
      assert.equal(error.class, "upstream_unavailable");
      assert.ok(performance.now() - started < 1_000);
    }
    bench.fake.unshell();
    await serves(bench);
  }));

Deno.test("STD-27 createCuo() gives each of many concurrent callers its own answer, in whatever order they come", () => {
  const routes = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [
    `query ${i}`,
    {
      persona: CTO,
      workflow: `workflow-${i}`,
      confidence: 0.5,
      alternates: [],
    },
  ]));
  const rules = Array.from({ length: 30 }, (_, i) => ({
    method: "route",
    match: `"query ${i}"`,
    delayMs: (30 - i) * 5,
  }));
  return withCuo({ routes, rules }, {}, async (bench) => {
    const answers = await Promise.all(
      Array.from(
        { length: 30 },
        (_, i) => bench.cuo.route(`query ${i}`, bench.context()),
      ),
    );
    answers.forEach((route, i) =>
      assert.equal(route.workflow, `workflow-${i}`)
    );
    const ids = bench.fake.journal().filter((e) => e.event === "message")
      .map((e) => e["message"].id);
    assert.equal(new Set(ids).size, 30);
    assert.equal(starts(bench), 1);
  });
});

Deno.test("STD-27 createCuo() drops answers to unknown and settled requests", () =>
  withCuo(
    {
      rules: [
        { method: "route", match: "stolen", answerId: 4242 },
        {
          method: "route",
          match: "twice",
          stdout: `${
            JSON.stringify({
              jsonrpc: "2.0",
              id: 1,
              result: {
                persona: CTO,
                workflow: "forged",
                confidence: 1,
                alternates: [],
              },
            })
          }\n`,
        },
      ],
    },
    {},
    async (bench) => {
      await serves(bench); // takes number 1
      const lost = refusal(
        bench.cuo.route("stolen", bench.context({ signal: after(400) })),
      );
      const route = await bench.cuo.route(QUERY, bench.context());
      assert.equal(route.workflow, "architect-new-system");
      const twice = await bench.cuo.route("twice", bench.context());
      assert.equal(twice.workflow, undefined);
      assert.equal((await lost).code, "UPSTREAM_TIMEOUT");
    },
  ));

Deno.test("STD-28 createCuo() tells the child of a cancelled call with its own number within 100 ms", () =>
  withCuo(
    { rules: [{ method: "route", match: "slow", silent: true }] },
    {},
    async (bench) => {
      await serves(bench);
      const controller = new AbortController();
      const call = refusal(
        bench.cuo.route("slow", bench.context({ signal: controller.signal })),
      );
      await eventually(() =>
        bench.fake.journal().some((e) => e["message"]?.method === "route")
      );
      const id = bench.fake.journal().find((e) =>
        e["message"]?.method === "route"
      )!["message"].id;
      const started = performance.now();
      controller.abort();
      assert.equal((await call).code, "TASK_CANCELLED");
      await eventually(() =>
        bench.fake.journal().some((e) =>
          e["message"]?.method === "notifications/cancelled" &&
          e["message"].params.requestId === id
        )
      );
      assert.ok(performance.now() - started < 100, "it took too long");
      await serves(bench);
      assert.equal(starts(bench), 1, "others keep their child");
    },
  ));

Deno.test("createCuo() repeats the calls that a crash of another's took down, each on a child of its own", () =>
  withCuo(
    {
      rules: [
        { method: "route", match: "deadly", delayMs: 100, exit: 137 },
        { method: "list_workflows", delayMs: 200 },
      ],
    },
    {},
    async (bench) => {
      const deadly = refusal(bench.cuo.route("deadly", bench.context()));
      const others = Promise.all(
        [1, 2, 3].map(() => bench.cuo.listWorkflows(CTO, bench.context())),
      );
      assert.equal((await deadly).class, "upstream_unavailable");
      for (const workflows of await others) assert.equal(workflows.length, 2);
      await serves(bench);
    },
  ));

Deno.test("createCuo() serves callers beside one whose call hangs the child", () =>
  withCuo(
    {
      oneAtATime: true,
      rules: [{ method: "route", match: "hang", hang: true }],
    },
    { limits: { hedgeMs: 200, hungMs: 300 } },
    async (bench) => {
      await serves(bench);
      const hanging = refusal(
        bench.cuo.route("hang", bench.context({ signal: after(1_500) })),
      );
      const started = performance.now();
      assert.equal(
        (await bench.cuo.listWorkflows(CTO, bench.context())).length,
        2,
      );
      assert.ok(
        performance.now() - started < 1_400,
        "it waited for the hung call",
      );
      assert.equal((await hanging).code, "UPSTREAM_TIMEOUT");
      await new Promise((resolve) => setTimeout(resolve, 350));
      await serves(bench);
      const pids = new Set(
        bench.fake.journal().filter((e) => e.event === "start").map((e) =>
          e.pid
        ),
      );
      assert.ok(pids.size >= 2, "the hung child was not replaced");
    },
  ));

Deno.test("createCuo() opens a client span per call, without content", () =>
  withCuo({}, {}, async (bench) => {
    const context = bench.context();
    await bench.cuo.route(QUERY, context);
    const span = bench.telemetry.spans.find((s) => s.name === "cuo.route")!;
    assert.equal(span.traceId, context.span.context.traceId);
    assert.equal(span.options.kind, "client");
    assert.equal(span.attributes["rpc.method"], "route");
    assert.equal(span.ended, 1);
    assert.ok(!JSON.stringify(bench.telemetry.spans).includes("Architect"));
  }));

Deno.test("createCuo() logs the child's stderr with the trace of the call, at a bounded rate", () =>
  withCuo(
    {
      rules: [{
        method: "route",
        stderr: `looking ${"x".repeat(3000)}\n`.repeat(500),
        delayMs: 100,
      }],
    },
    {},
    async (bench) => {
      const context = bench.context();
      await bench.cuo.route(QUERY, context);
      const lines = bench.log.lines.filter((line) =>
        line.event === "cuo stderr"
      );
      assert.ok(lines.length > 0 && lines.length < 100, String(lines.length));
      assert.deepEqual(lines[0]!.fields["trace_ids"], [
        context.span.context.traceId,
      ]);
      assert.ok(String(lines[0]!.fields["line"]).length < 600);
    },
  ));

Deno.test("close() ends the children, and later calls are refused", () =>
  withCuo({}, {}, async (bench) => {
    await serves(bench);
    await bench.cuo.close();
    assert.ok(
      bench.fake.journal().some((e) => /SIGTERM|stdin end/.test(e.event)),
    );
    const error = await refusal(bench.cuo.listPersonas(bench.context()));
    assert.equal(error.code, "SHUTTING_DOWN");
  }));
