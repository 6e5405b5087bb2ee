/** The plugin.invoked row after a workflow run. */
import assert from "node:assert/strict";
import { BridgeError } from "../../../bridge/errors.ts";
import { VERSION } from "../../../schema/version.ts";
import { Harness, type Loose, RUN } from "../../support/bridge_harness.ts";
import { TENANT_A } from "../../support/tokens.ts";

async function run(harness: Harness): Promise<Loose> {
  const { result } = await harness.tool("cyberos.cuo.execute_workflow", RUN);
  await harness.tasks.idle();
  return result.structuredContent;
}

function rowsOf(harness: Harness): Loose[] {
  return harness.upstreams.rows.get(TENANT_A) ?? [];
}

Deno.test("a completed run leaves plugin.invoked in the specification's shape, with nothing of its inputs", async () => {
  const harness = new Harness();
  harness.upstreams.behaviours.set("cuo.executeWorkflow", () => {
    harness.clock.advance(47_230);
    return { steps_executed: 10, final_artifacts: [] };
  });
  await run(harness);
  const [row] = rowsOf(harness);
  assert.equal(row.kind, "plugin.invoked");
  assert.deepEqual(row.body, {
    plugin_id: "cyberos",
    plugin_version: VERSION,
    tool_name: "cyberos.cuo.execute_workflow",
    trace_id: harness.telemetry.spans[0]?.traceId,
    duration_ms: 47_230,
    outcome: "success",
  });
  assert.equal(rowsOf(harness).length, 1);
  assert.ok(!JSON.stringify(row).includes("payment"));
});

const OUTCOMES: readonly [string, unknown][] = [
  ["upstream_unavailable", new BridgeError("UPSTREAM_UNAVAILABLE", "Away")],
  ["input_validation", new BridgeError("NOT_FOUND", "No such workflow")],
  ["internal_error", new TypeError("bug")],
];

for (const [outcome, thrown] of OUTCOMES) {
  Deno.test(`a run that fails leaves plugin.invoked with outcome ${outcome}`, async () => {
    const harness = new Harness();
    harness.upstreams.behaviours.set("cuo.executeWorkflow", () => {
      throw thrown;
    });
    await run(harness);
    assert.equal(rowsOf(harness)[0].body.outcome, outcome);
  });
}

Deno.test("a cancelled run leaves plugin.invoked with outcome cancelled", async () => {
  const harness = new Harness();
  harness.upstreams.behaviours.set(
    "cuo.executeWorkflow",
    (_, { signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason))
      ),
  );
  const { result } = await harness.tool("cyberos.cuo.execute_workflow", RUN);
  const taskId = result.structuredContent.task_id;
  await new Promise((resolve) => setTimeout(resolve, 5));
  await harness.request("tasks/cancel", { taskId });
  assert.equal(rowsOf(harness)[0].body.outcome, "cancelled");
});

Deno.test("a row that cannot be written is logged, and the run stays completed", async () => {
  const harness = new Harness();
  harness.upstreams.behaviours.set("memory.appendAudit", () => {
    throw new BridgeError("UPSTREAM_UNAVAILABLE", "Memory is away");
  });
  const { task_id } = await run(harness);
  const { result } = await harness.request("tasks/get", { id: task_id });
  assert.equal(result.status, "completed");
  const line = harness.log.lines.find(({ level }) => level === "warn");
  assert.equal(line?.fields["trace_id"], harness.telemetry.spans[0]?.traceId);
});

Deno.test("invoke_skill leaves no plugin.invoked row: the specification asks it of workflows", async () => {
  const harness = new Harness();
  await harness.tool("cyberos.skill.invoke_skill", {
    skill_id: "audit",
    inputs: {},
  }, { meta: { "mcp/sampling/elicit_confirm": true } });
  await harness.tasks.idle();
  assert.deepEqual(harness.upstreams.methods, ["skills.invoke"]);
});
