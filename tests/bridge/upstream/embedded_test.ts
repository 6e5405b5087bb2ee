/** The three upstreams of `--embedded`, together, on PGlite with the shipped catalogue. */
import assert from "node:assert/strict";
import { createEmbedded } from "../../../bridge/upstream/embedded/embedded.ts";
import { MAX_BRIEFING_CHARS } from "../../../bridge/upstream/embedded/briefing.ts";
import { loadCatalogue } from "../../../bridge/upstream/embedded/catalogue.ts";
import type { Upstreams } from "../../../bridge/ports.ts";
import { BridgeError } from "../../../bridge/errors.ts";
import {
  type EmbeddedDatabase,
  embeddedDatabase,
} from "../../support/embedded_database.ts";
import { TENANT_A, TENANT_B } from "../../support/tokens.ts";
import { refusal, UpstreamBench } from "../../support/upstream_context.ts";
import { after, CTO } from "./cuo_bench.ts";

// deno-lint-ignore no-explicit-any -- outputs are read loosely by assertions.
type Loose = any;

interface Bench extends UpstreamBench {
  readonly upstreams: Upstreams;
  readonly database: EmbeddedDatabase;
}

// One database serves the whole file: PGlite takes a second or two to make.
let shared: Promise<EmbeddedDatabase> | undefined;

async function withEmbedded(
  run: (bench: Bench) => Promise<void>,
  options: { readonly skillsDirectory?: string } = {},
): Promise<void> {
  const database = await (shared ??= embeddedDatabase());
  const bench = new UpstreamBench();
  const upstreams = createEmbedded({
    sql: () => Promise.resolve(database.driver),
    pluginId: "cyberos",
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
    ...options,
  });
  await run(Object.assign(bench, { upstreams, database }));
}

const rows = async (bench: Bench, tenantId: string, filter = {}) =>
  (await bench.upstreams.memory.readAudit(
    { limit: 500, ...filter },
    bench.context({ tenantId }),
  )).rows as Loose[];

function test(name: string, run: (bench: Bench) => Promise<void>): void {
  // PGlite's own handles live as long as the file's one database.
  Deno.test({
    name,
    sanitizeOps: false,
    sanitizeResources: false,
    fn: () => withEmbedded(run),
  });
}

test("createEmbedded() offers the 47 active personas and their workflows", async (bench) => {
  const { cuo } = bench.upstreams;
  const personas = await cuo.listPersonas(bench.context());
  assert.equal(personas.length, 47);
  assert.equal(personas.reduce((sum, p) => sum + p.workflowCount, 0), 224);
  assert.ok(personas.every((p) => p.description && !("workflows" in p)));
  const workflows = await cuo.listWorkflows(CTO, bench.context());
  const architect = workflows.find((w) => w.slug === "architect-new-system")!;
  assert.deepEqual(architect.inputs, [
    "prd",
    "capacity_signal",
    "target_quarter",
  ]);
  assert.equal(architect.skillChain.length, 10);
  const error = await refusal(
    cuo.listWorkflows("chief-tech-officer", bench.context()),
  );
  assert.equal(error.code, "NOT_FOUND");
  assert.match(error.hint, /chief-technology-officer/);
});

test("createEmbedded() routes the specification's example, with alternates", async (bench) => {
  const route = await bench.upstreams.cuo.route(
    "Architect a new payment routing system for Southeast Asian markets",
    bench.context(),
  );
  assert.equal(
    `${route.persona}/${route.workflow}`,
    `${CTO}/architect-new-system`,
  );
  assert.ok(route.confidence > 0.6 && route.confidence <= 1);
  assert.ok(route.alternates.length >= 1);
  for (const pair of route.alternates) {
    assert.match(pair, /^[a-z0-9-]+\/[a-z0-9-]+$/);
  }
});

test("createEmbedded() lists all 248 skills and hands one out with where its text comes from", async (bench) => {
  const { skills } = bench.upstreams;
  const list = await skills.list(bench.context());
  assert.equal(list.skills.length, 248);
  assert.deepEqual(
    list.skills.map((s) => s.skillId),
    list.skills.map((s) => s.skillId).toSorted(),
  );
  const written = await skills.invoke({
    skillId: "architecture-decision-record-author",
    inputs: {},
  }, bench.run()) as Loose;
  assert.match(written.origin, /written by hand/);
  assert.match(written.note, /no model of its own/);
  const derived = await skills.invoke({
    skillId: "account-plan-author",
    inputs: {},
  }, bench.run()) as Loose;
  assert.match(derived.origin, /derived/);
  const error = await refusal(
    skills.invoke({ skillId: "acount-plan-author", inputs: {} }, bench.run()),
  );
  assert.match(error.hint, /account-plan-author/);
});

test("executeWorkflow() walks the chain, reports each step and briefs the host's model", async (bench) => {
  const context = bench.run();
  const output = await bench.upstreams.cuo.executeWorkflow({
    persona: CTO,
    workflow: "architect-new-system",
    inputs: {
      prd: "Payments for SEA",
      context: "Build a payment routing system",
    },
  }, context) as Loose;
  assert.equal(output.steps_executed, 10);
  assert.deepEqual(bench.progress.map((p) => p.step), [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
  ]);
  assert.equal(bench.progress[0]!.total, 10);
  assert.match(output.note, /no model of its own/);
  assert.deepEqual(
    output.final_artifacts.map((a: Loose) => [a.name, a.from_step]),
    [
      ["srs", 1],
      ["adrs", 3],
      ["threat_model", 5],
      ["sdd", 7],
      ["impl_plan", 9],
    ],
  );
  assert.deepEqual(output.inputs.missing, [
    "capacity_signal",
    "target_quarter",
  ]);
  assert.deepEqual(output.inputs.unknown, ["context"]);
  assert.equal(output.inputs.given.prd, "Payments for SEA");
  const [author, audit, next] = output.steps;
  assert.deepEqual(author.uses, ["prd", "capacity_signal", "target_quarter"]);
  assert.deepEqual(author.hand_off, ["srs"]);
  assert.deepEqual(audit.uses, ["srs"]);
  assert.match(audit.task, /go back to step 1/);
  assert.ok(next.uses.includes("srs"));
  for (const step of output.steps) {
    assert.ok(step.instructions.length > 200, step.skill_id);
  }
});

test("executeWorkflow() leaves an audit row per step, with nothing of the inputs in it", async (bench) => {
  const tenantId = crypto.randomUUID();
  const context = bench.run({ tenantId });
  await bench.upstreams.cuo.executeWorkflow({
    persona: CTO,
    workflow: "adr-quick-capture",
    inputs: { decision_context: "a very secret decision" },
  }, context);
  const found = await rows(bench, tenantId, { kind: "plugin.step" });
  assert.deepEqual(
    found.map((r) => [r.seq, r.body.step, r.body.skill_id, r.body.outcome]),
    [
      [1, 1, "architecture-decision-record-author", "briefed"],
      [2, 2, "architecture-decision-record-audit", "briefed"],
    ],
  );
  assert.equal(found[0].actor_id, "user-1");
  assert.equal(found[0].body.trace_id, context.span.context.traceId);
  assert.ok(!JSON.stringify(found).includes("secret"));
});

test("executeWorkflow() keeps every workflow of the catalogue within what a host takes", async (bench) => {
  const { personas } = await loadCatalogue();
  const inputs = Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`input_${i}`, "x".repeat(2_000)]),
  );
  let largest = 0;
  for (const persona of personas.values()) {
    for (const workflow of persona.workflows) {
      if (
        workflow.skillChain.length < 4 &&
        persona.slug !== "chief-executive-officer"
      ) continue;
      const output = await bench.upstreams.cuo.executeWorkflow(
        { persona: persona.slug, workflow: workflow.slug, inputs },
        bench.run(),
      ) as Loose;
      assert.equal(output.steps_executed, workflow.skillChain.length);
      const size = JSON.stringify(output).length;
      largest = Math.max(largest, size);
      assert.ok(size <= MAX_BRIEFING_CHARS + 500, `${workflow.slug}: ${size}`);
    }
  }
  assert.ok(largest > MAX_BRIEFING_CHARS / 2, "the bound was never near");
});

test("executeWorkflow() says where a workflow has no steps", async (bench) => {
  const output = await bench.upstreams.cuo.executeWorkflow(
    { persona: CTO, workflow: "run-improvement-program", inputs: {} },
    bench.run(),
  ) as Loose;
  assert.equal(output.steps_executed, 0);
  assert.match(output.note, /no steps/);
});

test("executeWorkflow() names what does not exist", async (bench) => {
  const run = (persona: string, workflow: string) =>
    refusal(
      bench.upstreams.cuo.executeWorkflow(
        { persona, workflow, inputs: {} },
        bench.run(),
      ),
    );
  assert.match((await run("cto", "x")).hint, /chief-technology-officer/);
  assert.match(
    (await run(CTO, "architect-system")).hint,
    /architect-new-system/,
  );
  assert.equal((await run("chief-metaverse-officer", "x")).code, "NOT_FOUND");
});

test("executeWorkflow() stops between steps when it is cancelled", async (bench) => {
  const controller = new AbortController();
  const context = {
    ...bench.run({ signal: controller.signal }),
    onProgress: (p: { step: number }) => p.step === 2 && controller.abort(),
  };
  const tenantId = crypto.randomUUID();
  const error = await refusal(bench.upstreams.cuo.executeWorkflow(
    { persona: CTO, workflow: "architect-new-system", inputs: {} },
    { ...context, principal: { ...context.principal, tenantId } } as Loose,
  ));
  assert.equal(error.code, "TASK_CANCELLED");
  assert.ok((await rows(bench, tenantId)).length <= 2);
});

Deno.test({
  name:
    "createEmbedded() takes skills from a folder where one is given, and the catalogue's where it lacks them",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const skillsDirectory = await Deno.makeTempDir();
    await Deno.mkdir(`${skillsDirectory}/architecture-decision-record-author`);
    await Deno.writeTextFile(
      `${skillsDirectory}/architecture-decision-record-author/SKILL.md`,
      "---\nname: architecture-decision-record-author\ndescription: Ours.\n---\n\nOur own way.\n",
    );
    await withEmbedded(async (bench) => {
      assert.equal(
        (await bench.upstreams.skills.list(bench.context())).skills.length,
        1,
      );
      const output = await bench.upstreams.cuo.executeWorkflow(
        { persona: CTO, workflow: "adr-quick-capture", inputs: {} },
        bench.run(),
      ) as Loose;
      assert.equal(output.steps[0].instructions, "Our own way.");
      assert.match(output.steps[1].instructions_origin, /embedded catalogue/);
    }, { skillsDirectory });
    await Deno.remove(skillsDirectory, { recursive: true });
  },
});

test("the memory of createEmbedded() chains each tenant's rows by hash and finds what was changed behind its back", async (bench) => {
  const [tenantId, other] = [crypto.randomUUID(), crypto.randomUUID()];
  const append = (tenant: string, n: number) =>
    bench.upstreams.memory.appendAudit({
      kind: "decision",
      body: { n },
      idempotencyKey: crypto.randomUUID(),
    }, bench.context({ tenantId: tenant }));
  for (let n = 1; n <= 5; n++) {
    assert.equal((await append(tenantId, n)).seq, n);
    await append(other, n);
  }
  const found = await rows(bench, tenantId);
  assert.equal(found[0].prev_hash, "0".repeat(64));
  for (let i = 1; i < 5; i++) {
    assert.equal(found[i].prev_hash, found[i - 1].hash);
  }
  const verify = async (tenant: string) =>
    (await bench.database.driver.query(
      "select plugin_host.audit_verify($1::uuid) as answer",
      [tenant],
    ))[0]!["answer"] as Loose;
  assert.deepEqual(await verify(tenantId), { rows: 5, broken_at: null });
  await bench.database.admin(`
    alter table plugin_host.audit_rows disable trigger all;
    update plugin_host.audit_rows set body = '{"n":99}' where tenant_id = '${tenantId}' and seq = 3;
    alter table plugin_host.audit_rows enable trigger all;
  `);
  assert.equal((await verify(tenantId)).broken_at, 3);
  await bench.database.admin(`
    alter table plugin_host.audit_rows disable trigger all;
    delete from plugin_host.audit_rows where tenant_id = '${other}' and seq = 2;
    alter table plugin_host.audit_rows enable trigger all;
  `);
  assert.equal((await verify(other)).broken_at, 3);
});

test("the memory of createEmbedded() can only be added to, and only by its own tenant", async (bench) => {
  const tenantId = crypto.randomUUID();
  await bench.upstreams.memory.appendAudit({
    kind: "decision",
    body: {},
    idempotencyKey: "k",
  }, bench.context({ tenantId }));
  const { driver } = bench.database;
  const refused = async (sql: string) => {
    await assert.rejects(
      driver.query(sql, []),
      (error: Loose) => error.code === "42501",
      sql,
    );
  };
  await refused("update plugin_host.audit_rows set kind = 'x'");
  await refused("delete from plugin_host.audit_rows");
  await refused("truncate plugin_host.audit_rows");
  await refused(
    `insert into plugin_host.audit_rows (tenant_id, seq, kind, actor_id, body, recorded_at, prev_hash, hash)
    values ('${tenantId}', 99, 'x', 'x', '{}', now(), repeat('0', 64), repeat('0', 64))`,
  );
  assert.deepEqual(
    await driver.query("select * from plugin_host.audit_rows", []),
    [],
  );
  await assert.rejects(
    bench.database.admin("delete from plugin_host.audit_rows"),
    /append-only/,
  );
  await assert.rejects(
    bench.database.admin("truncate plugin_host.audit_rows"),
    /append-only/,
  );
  assert.equal((await rows(bench, tenantId)).length, 1);
});

test("createEmbedded() keeps tenants apart", async (bench) => {
  const a = (await rows(bench, TENANT_A)).length;
  await bench.upstreams.memory.appendAudit({
    kind: "decision",
    body: { who: "b" },
    idempotencyKey: "b",
  }, bench.context({ tenantId: TENANT_B }));
  assert.equal((await rows(bench, TENANT_A)).length, a);
  assert.ok(
    (await rows(bench, TENANT_B)).every((r) => r.tenant_id === TENANT_B),
  );
});

test("createEmbedded() answers status for all three, and upstream_unavailable while the database is away", async (bench) => {
  const { cuo, memory, skills } = bench.upstreams;
  for (const port of [cuo, memory, skills]) {
    assert.equal((await port.status(after(2_000))).state, "ok");
  }
  let away = true;
  const broken = createEmbedded({
    sql: () =>
      away
        ? Promise.reject(new BridgeError("STORE_UNAVAILABLE", "away"))
        : Promise.resolve(bench.database.driver),
    pluginId: "cyberos",
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
  });
  const error = await refusal(
    broken.memory.readAudit({ limit: 1 }, bench.context()),
  );
  assert.equal(error.class, "upstream_unavailable");
  assert.equal((await broken.memory.status(after(2_000))).state, "down");
  assert.equal((await broken.cuo.listPersonas(bench.context())).length, 47);
  away = false;
  await broken.memory.readAudit({ limit: 1 }, bench.context());
});
