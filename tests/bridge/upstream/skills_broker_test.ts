/** Skills of a broker. */
import assert from "node:assert/strict";
import { createSkills } from "../../../bridge/upstream/skills/skills.ts";
import type { Skills } from "../../../bridge/ports.ts";
import { refusal, UpstreamBench } from "../../support/upstream_context.ts";
import { after } from "./cuo_bench.ts";
import { type Answer, type RestServer, withRest } from "./rest_bench.ts";

const CATALOGUE = {
  skills: [
    {
      skill_id: "budget-author",
      title: "Budget",
      description: "Writes a budget.",
    },
    { id: "adr.author", description: "Writes a decision." },
    { id: "../../evil", description: "x" },
    { id: "no-description" },
    { id: "adr.author", description: "again" },
  ],
};

const serve: Answer = ({ method, url, body }) => {
  if (method === "GET" && url.pathname === "/v1/skills") {
    return Response.json(CATALOGUE);
  }
  if (url.pathname === "/v1/skills/budget-author/invoke") {
    return Response.json({ budget: JSON.parse(body).inputs });
  }
  return Response.json({ secret: "detail" }, { status: 404 });
};

function withBroker(
  answer: Answer,
  run: (
    bench: UpstreamBench & { skills: Skills; server: RestServer },
  ) => Promise<void>,
): Promise<void> {
  return withRest(answer, async (server) => {
    const bench = new UpstreamBench();
    const skills = createSkills({
      brokerEndpoint: server.endpoint,
      token: () => "service-secret",
      telemetry: bench.telemetry,
      log: bench.log,
      clock: bench.clock,
    });
    await run(Object.assign(bench, { skills, server }));
    await skills.close();
  });
}

Deno.test("createSkills() lists a broker's skills and reports the rows that are none", () =>
  withBroker(serve, async (bench) => {
    const { skills, problems } = await bench.skills.list(bench.context());
    assert.deepEqual(skills, [
      { skillId: "adr.author", description: "Writes a decision." },
      {
        skillId: "budget-author",
        title: "Budget",
        description: "Writes a budget.",
      },
    ]);
    assert.deepEqual(problems.map((p) => p.skillId), [
      "#2",
      "no-description",
      "adr.author",
    ]);
    assert.equal((await bench.skills.status(after(1_000))).state, "ok");
  }));

Deno.test("AUTH-18 createSkills() runs a skill at the broker with the bridge's own credential", () =>
  withBroker(serve, async (bench) => {
    const context = bench.run();
    const output = await bench.skills.invoke({
      skillId: "budget-author",
      inputs: { year: 2027 },
    }, context);
    assert.deepEqual(output, { budget: { year: 2027 } });
    const { headers, body } = bench.server.seen.at(-1)!;
    assert.equal(headers.get("authorization"), "Bearer service-secret");
    assert.equal(headers.get("idempotency-key"), context.taskId);
    assert.ok(
      headers.get("traceparent")?.includes(context.span.context.traceId),
    );
    assert.equal(JSON.parse(body).tenant_id, context.principal.tenantId);
  }));

Deno.test("createSkills() names the nearest skill that the broker has", () =>
  withBroker(serve, async (bench) => {
    const error = await refusal(
      bench.skills.invoke({ skillId: "budget-autor", inputs: {} }, bench.run()),
    );
    assert.equal(error.code, "NOT_FOUND");
    assert.match(error.hint, /budget-author/);
    const before = bench.server.seen.length;
    const odd = await refusal(
      bench.skills.invoke({ skillId: "../audit?x=", inputs: {} }, bench.run()),
    );
    assert.equal(odd.code, "NOT_FOUND");
    assert.ok(
      bench.server.seen.slice(before).every((s) => s.method === "GET"),
      "it became a path",
    );
  }));

Deno.test("HTTP-29 createSkills() never runs a skill twice, shows nothing of a failure, and recovers", () =>
  withBroker(serve, async (bench) => {
    for (const status of [400, 401, 409, 422, 429, 500, 503]) {
      bench.server.answer(() => new Response("secret detail", { status }));
      const before = bench.server.seen.length;
      const error = await refusal(
        bench.skills.invoke(
          { skillId: "budget-author", inputs: {} },
          bench.run(),
        ),
      );
      assert.equal(
        bench.server.seen.length - before,
        1,
        `sent again on ${status}`,
      );
      const own = status === 400 || status === 409 || status === 422;
      assert.equal(
        error.class,
        own ? "input_validation" : "upstream_unavailable",
      );
      assert.ok(
        !JSON.stringify([error.message, error.hint, error.data]).includes(
          "secret",
        ),
      );
    }
    bench.server.answer(serve);
    await bench.skills.invoke(
      { skillId: "budget-author", inputs: {} },
      bench.run(),
    );
  }));

Deno.test("createSkills() ends the request when the run is cancelled", () =>
  withBroker(
    () =>
      new Promise((resolve) =>
        setTimeout(() => resolve(Response.json({})), 300)
      ),
    async (bench) => {
      const started = performance.now();
      const error = await refusal(
        bench.skills.invoke(
          { skillId: "budget-author", inputs: {} },
          bench.run({ signal: after(50) }),
        ),
      );
      assert.equal(error.code, "UPSTREAM_TIMEOUT");
      assert.ok(performance.now() - started < 250);
    },
  ));
