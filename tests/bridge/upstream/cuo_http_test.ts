/** CUO over HTTP, as on Deno Deploy: the same port, without a child. */
import assert from "node:assert/strict";
import { createCuo } from "../../../bridge/upstream/cuo/cuo.ts";
import {
  eventually,
  refusal,
  UpstreamBench,
} from "../../support/upstream_context.ts";
import { after, CTO, RUN } from "./cuo_bench.ts";
import type { Cuo } from "../../../bridge/ports.ts";

interface Seen {
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any -- read loosely by assertions.
  readonly body: any;
  aborted: boolean;
}

type Answer = (seen: Seen, request: Request) => Response | Promise<Response>;

const PERSONAS = {
  personas: [{ slug: CTO, title: "CTO", status: "shipped", workflow_count: 1 }],
};

function rpcResult(result: unknown): Answer {
  return ({ body }) => Response.json({ jsonrpc: "2.0", id: body.id, result });
}

function byMethod(results: Record<string, unknown>): Answer {
  return (seen, request) => rpcResult(results[seen.body.method])(seen, request);
}

async function withHttp(
  answer: Answer,
  run: (
    bench: UpstreamBench & {
      cuo: Cuo;
      seen: Seen[];
      answer: (next: Answer) => void;
    },
  ) => Promise<void>,
): Promise<void> {
  let current = answer;
  const seen: Seen[] = [];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      const entry: Seen = {
        headers: request.headers,
        body: await request.json(),
        aborted: false,
      };
      seen.push(entry);
      return await current(entry, request);
    },
  );
  const bench = new UpstreamBench();
  const cuo = createCuo({
    program: undefined,
    protocol: "auto",
    endpoint: `http://127.0.0.1:${server.addr.port}/rpc`,
    token: () => "service-secret",
    environment: {},
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
    limits: { shortCallMs: 1_000, maxLineBytes: 100_000 },
  });
  try {
    await run(
      Object.assign(bench, {
        cuo,
        seen,
        answer: (next: Answer) => current = next,
      }),
    );
  } finally {
    await cuo.close();
    await server.shutdown();
  }
}

Deno.test("createCuo() reads personas, workflows and routes over HTTP", () =>
  withHttp(
    byMethod({
      list_personas: PERSONAS,
      list_workflows: {
        workflows: [{
          slug: "w",
          cadence: "annual",
          inputs: [],
          outputs: [],
          skill_chain: [],
        }],
      },
      route: { persona: CTO, workflow: "w", confidence: 1, alternates: [] },
    }),
    async (bench) => {
      assert.equal((await bench.cuo.listPersonas(bench.context())).length, 1);
      assert.equal(
        (await bench.cuo.listWorkflows(CTO, bench.context())).length,
        1,
      );
      assert.equal((await bench.cuo.route("x", bench.context())).workflow, "w");
      assert.equal((await bench.cuo.status(after(1_000))).state, "ok");
      const context = bench.context();
      await bench.cuo.listPersonas(context);
      const { headers } = bench.seen.at(-1)!;
      assert.equal(headers.get("authorization"), "Bearer service-secret");
      assert.ok(
        headers.get("traceparent")?.includes(context.span.context.traceId),
      );
    },
  ));

Deno.test("executeWorkflow() follows a run over HTTP, a message a line", () =>
  withHttp(({ body }) =>
    new Response(
      [
        {
          jsonrpc: "2.0",
          method: "progress",
          params: { step: 1, total: 2, skill: "a" },
        },
        {
          jsonrpc: "2.0",
          method: "progress",
          params: { step: 2, total: 2, skill: "b" },
        },
        {
          jsonrpc: "2.0",
          id: body.id,
          result: { steps_executed: 2, final_artifacts: [] },
        },
      ].map((m) => JSON.stringify(m)).join("\n"),
      { headers: { "content-type": "application/x-ndjson" } },
    ), async (bench) => {
    const context = bench.run();
    const output = await bench.cuo.executeWorkflow(RUN, context);
    assert.equal(output["steps_executed"], 2);
    assert.equal(bench.progress.length, 2);
    assert.deepEqual(bench.seen[0]!.body.params, {
      ...RUN,
      task_id: context.taskId,
      trace_id: context.span.context.traceId,
    });
    bench.answer(rpcResult({ steps_executed: 1, final_artifacts: [] }));
    assert.equal(
      (await bench.cuo.executeWorkflow(RUN, bench.run()))["steps_executed"],
      1,
    );
  }));

Deno.test("executeWorkflow() ends the request when the run is cancelled", () =>
  withHttp((seen) =>
    new Response(
      new ReadableStream({
        start: (stream) => stream.enqueue(new TextEncoder().encode("\n")),
        cancel: () => {
          seen.aborted = true;
        },
      }),
    ), async (bench) => {
    const controller = new AbortController();
    const run = refusal(
      bench.cuo.executeWorkflow(RUN, bench.run({ signal: controller.signal })),
    );
    await eventually(() => bench.seen.length === 1);
    controller.abort();
    assert.equal((await run).code, "TASK_CANCELLED");
    await eventually(() => bench.seen[0]!.aborted);
  }));

Deno.test("HTTP-29 createCuo() maps what goes wrong over HTTP, never starts a run twice, and recovers", () =>
  withHttp(byMethod({ list_personas: PERSONAS }), async (bench) => {
    const good = byMethod({ list_personas: PERSONAS });
    const html = () =>
      new Response("<html>", { headers: { "content-type": "text/html" } });
    const faults: readonly Answer[] = [
      html,
      () => new Response("secret", { status: 500 }),
      () => new Response("secret", { status: 401 }),
      () =>
        new Response(null, {
          status: 302,
          headers: { location: "http://127.0.0.1:1/" },
        }),
      () => new Response(""),
      () => new Response("x".repeat(200_000)),
      () => Response.json({ jsonrpc: "2.0", id: 77, result: PERSONAS }),
      ({ body }) =>
        Response.json({
          jsonrpc: "2.0",
          id: body.id,
          error: { code: -32000, message: "secret" },
        }),
    ];
    for (const [index, fault] of faults.entries()) {
      bench.answer(fault);
      const short = await refusal(bench.cuo.listPersonas(bench.context()));
      assert.equal(short.class, "upstream_unavailable", String(index));
      const before = bench.seen.length;
      const run = await refusal(
        bench.cuo.executeWorkflow(RUN, bench.run({ signal: after(2_000) })),
      );
      assert.equal(run.class, "upstream_unavailable", String(index));
      const runs = bench.seen.slice(before).filter((s) =>
        s.body.method === "execute_workflow"
      );
      assert.equal(runs.length, 1, `a run was sent ${runs.length} times`);
      assert.ok(
        !JSON.stringify([
          short.message,
          short.hint,
          short.data,
          run.message,
          run.hint,
        ]).includes("secret"),
      );
      bench.answer(good);
      assert.equal((await bench.cuo.listPersonas(bench.context())).length, 1);
    }
  }));

Deno.test("HTTP-29 executeWorkflow() lets go of a run that answers in countless pieces", async () => {
  const bench = new UpstreamBench();
  let sent = 0;
  const cuo = createCuo({
    program: undefined,
    protocol: "auto",
    endpoint: "http://cuo.test/rpc",
    environment: {},
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
    fetch: () =>
      Promise.resolve(
        new Response(
          new ReadableStream({
            pull: (stream) => {
              sent++;
              stream.enqueue(new Uint8Array([0x0a]));
            },
          }),
        ),
      ),
  });
  const error = await refusal(cuo.executeWorkflow(RUN, bench.run()));
  assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
  assert.ok(sent > 5_000 && sent < 20_000, `${sent} pieces were taken`);
  await cuo.close();
});
