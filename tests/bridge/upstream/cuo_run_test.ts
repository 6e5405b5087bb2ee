/** Workflow runs: a child of its own each, and nothing of it left when it ends. */
import assert from "node:assert/strict";
import { BridgeError } from "../../../bridge/errors.ts";
import { isRunning, SCRIPT } from "../../support/fake_cuo/install.ts";
import type { FakeScript } from "../../support/fake_cuo/script.ts";
import { eventually, refusal } from "../../support/upstream_context.ts";
import { after, CTO, type CuoBench, RUN, withCuo } from "./cuo_bench.ts";

const PROTOCOLS = ["jsonrpc", "cli"] as const;
const LINUX = Deno.build.os === "linux";

/** A run that starts a grandchild and then never ends. */
const HANGING: Partial<FakeScript> = {
  rules: [
    { method: "execute_workflow", grandchild: true, hang: true },
    { method: "execute", grandchild: true, hang: true },
  ],
};

/** No process tree: what the bridge has under `--allow-run=cyberos-cuo`. */
const SCOPED = {
  descendants: () => Promise.resolve([]),
  kill: () => Promise.resolve(0),
};

function grandchild(bench: CuoBench): number | undefined {
  return bench.fake.journal().find((e) => e.event === "grandchild")
    ?.["grandchild"];
}

function childOf(bench: CuoBench): number | undefined {
  return bench.fake.journal().find((e) => e.event === "grandchild")?.pid;
}

async function untilHanging(
  bench: CuoBench,
): Promise<{ child: number; grandchild: number }> {
  await eventually(() => grandchild(bench) !== undefined);
  return { child: childOf(bench)!, grandchild: grandchild(bench)! };
}

async function runs(bench: CuoBench): Promise<void> {
  const output = await bench.cuo.executeWorkflow(RUN, bench.run());
  assert.equal(output["steps_executed"], 3);
}

for (const protocol of PROTOCOLS) {
  Deno.test(`executeWorkflow() runs every step and reports it (${protocol})`, () =>
    withCuo({ stepMs: 5 }, { protocol }, async (bench) => {
      await runs(bench);
      assert.deepEqual(bench.progress.map((p) => [p.step, p.message]), [
        [1, "srs-author"],
        [2, "srs-audit"],
        [3, "plan-author"],
      ]);
    }));

  Deno.test(`executeWorkflow() gives every run a child of its own (${protocol})`, () =>
    withCuo({ stepMs: 20 }, { protocol }, async (bench) => {
      await Promise.all([1, 2, 3].map(() => runs(bench)));
      const runners = new Set(
        bench.fake.journal().filter((e) =>
          e["message"]?.method === "execute_workflow" ||
          e["args"]?.[0] === "execute"
        ).map((e) => e.pid),
      );
      assert.equal(runners.size, 3);
      await eventually(() => [...runners].every((pid) => !isRunning(pid)));
    }));

  Deno.test({
    name:
      `STD-23 executeWorkflow() leaves no process behind when it is cancelled (${protocol})`,
    ignore: !LINUX,
    fn: () =>
      withCuo(HANGING, { protocol, processTree: SCOPED }, async (bench) => {
        const controller = new AbortController();
        const reason = new BridgeError(
          "TASK_CANCELLED",
          "The task was cancelled",
        );
        const run = refusal(
          bench.cuo.executeWorkflow(
            RUN,
            bench.run({ signal: controller.signal }),
          ),
        );
        const pids = await untilHanging(bench);
        assert.ok(isRunning(pids.child) && isRunning(pids.grandchild));
        controller.abort(reason);
        assert.equal(await run, reason);
        assert.ok(!isRunning(pids.child), "the child lives");
        assert.ok(!isRunning(pids.grandchild), "the grandchild lives");
        bench.fake.script(SCRIPT);
        await runs(bench);
      }),
  });

  Deno.test({
    name:
      `STD-23 executeWorkflow() ends a run at its deadline, and all that it started (${protocol})`,
    ignore: !LINUX,
    fn: () =>
      withCuo(HANGING, { protocol, processTree: SCOPED }, async (bench) => {
        const error = await refusal(
          bench.cuo.executeWorkflow(RUN, bench.run({ signal: after(700) })),
        );
        assert.equal(error.code, "UPSTREAM_TIMEOUT");
        const { child, grandchild } = await untilHanging(bench);
        assert.ok(!isRunning(child) && !isRunning(grandchild));
      }),
  });

  Deno.test({
    name:
      `STD-23 executeWorkflow() ends a child that ignores SIGTERM, and its orphans where it may (${protocol})`,
    ignore: !LINUX,
    fn: () =>
      withCuo({ ...HANGING, rude: true }, { protocol }, async (bench) => {
        const controller = new AbortController();
        const run = refusal(
          bench.cuo.executeWorkflow(
            RUN,
            bench.run({ signal: controller.signal }),
          ),
        );
        const pids = await untilHanging(bench);
        controller.abort();
        await run;
        assert.ok(!isRunning(pids.child), "the child lives");
        assert.ok(!isRunning(pids.grandchild), "the grandchild lives");
        assert.ok(
          bench.fake.journal().some((e) =>
            e.event === "SIGTERM" && e.pid === pids.child
          ),
        );
      }),
  });

  Deno.test({
    name:
      `STD-23 executeWorkflow() ends although orphans that it may not end hold the pipes (${protocol})`,
    ignore: !LINUX,
    fn: () =>
      withCuo(
        { ...HANGING, rude: true },
        { protocol, processTree: SCOPED },
        async (bench) => {
          const controller = new AbortController();
          const run = refusal(
            bench.cuo.executeWorkflow(
              RUN,
              bench.run({ signal: controller.signal }),
            ),
          );
          const pids = await untilHanging(bench);
          const started = performance.now();
          controller.abort();
          await run;
          assert.ok(performance.now() - started < 3_000);
          assert.ok(!isRunning(pids.child));
          // The control of the tests above: such an orphan does live on, and the log says so.
          assert.ok(isRunning(pids.grandchild));
          assert.ok(
            bench.log.lines.some((line) =>
              /left processes behind/.test(line.event)
            ),
          );
          Deno.kill(pids.grandchild, "SIGKILL");
        },
      ),
  });

  Deno.test(`P2-FM03 executeWorkflow() refuses as upstream_unavailable when its child crashes, and the next run works (${protocol})`, () =>
    withCuo(
      {
        rules: [
          { method: "execute_workflow", exit: 139 },
          { method: "execute", exit: 139 },
        ],
      },
      { protocol },
      async (bench) => {
        const started = performance.now();
        const error = await refusal(
          bench.cuo.executeWorkflow(RUN, bench.run()),
        );
        assert.equal(error.code, "UPSTREAM_UNAVAILABLE");
        assert.equal(error.class, "upstream_unavailable");
        assert.ok(performance.now() - started < 2_000);
        const starts = bench.fake.journal().filter((e) =>
          e.event === "start"
        ).length;
        assert.equal(starts, 1, "a run is never repeated by itself");
        bench.fake.script(SCRIPT);
        await runs(bench);
      },
    ));

  Deno.test(`executeWorkflow() names what does not exist, and the nearest that does (${protocol})`, () =>
    withCuo({ rules: [{ method: "execute_workflow", error: -32602 }] }, {
      protocol,
    }, async (bench) => {
      const run = (persona: string, workflow: string) =>
        refusal(
          bench.cuo.executeWorkflow(
            { persona, workflow, inputs: {} },
            bench.run(),
          ),
        );
      const persona = await run("chief-technologie-officer", "x");
      assert.equal(persona.code, "NOT_FOUND");
      assert.match(persona.hint, /chief-technology-officer/);
      const workflow = await run(CTO, "architect-new-systems");
      assert.equal(workflow.code, "NOT_FOUND");
      assert.match(workflow.hint, /architect-new-system\?/);
      const odd = await run("--output-dir=/", "../../x");
      assert.equal(odd.code, "NOT_FOUND");
    }));
}

Deno.test("executeWorkflow() tells wrong inputs from a broken CUO", () =>
  withCuo(
    { rules: [{ method: "execute_workflow", error: -32602 }] },
    {},
    async (bench) => {
      const error = await refusal(bench.cuo.executeWorkflow(RUN, bench.run()));
      assert.equal(error.code, "ARGUMENTS_INVALID");
      assert.equal(error.class, "input_validation");
    },
  ));

Deno.test("executeWorkflow() refuses a result that does not follow the contract", async () => {
  for (
    const result of [null, {}, { steps_executed: -1, final_artifacts: [] }, {
      steps_executed: 1,
      final_artifacts: "x",
    }]
  ) {
    await withCuo(
      { rules: [{ method: "execute_workflow", result }] },
      {},
      async (bench) => {
        const error = await refusal(
          bench.cuo.executeWorkflow(RUN, bench.run()),
        );
        assert.match(error.message, /contract/, JSON.stringify(result));
      },
    );
  }
});

Deno.test("executeWorkflow() passes progress on once a step, however often it is told", () => {
  const note = (step: unknown) =>
    `${
      JSON.stringify({
        jsonrpc: "2.0",
        method: "progress",
        params: { step, total: 2, skill: "s" },
      })
    }\n`;
  return withCuo(
    {
      rules: [{
        method: "execute_workflow",
        stdout: [1, 1, 2, 1, -3, "x", 1e300].map(note).join(""),
        result: { steps_executed: 2, final_artifacts: [] },
      }],
    },
    {},
    async (bench) => {
      await bench.cuo.executeWorkflow(RUN, bench.run());
      assert.deepEqual(bench.progress, [
        { step: 1, total: 2, message: "s" },
        { step: 2, total: 2, message: "s" },
      ]);
    },
  );
});

Deno.test("executeWorkflow() ends a child that does not end after its answer", () =>
  withCuo({ rude: true }, { limits: { graceMs: 200 } }, async (bench) => {
    await runs(bench);
    const { pid } = bench.fake.journal().find((e) =>
      e["message"]?.method === "execute_workflow"
    )!;
    assert.ok(!isRunning(pid));
  }));

Deno.test({
  name:
    "STD-23 a bridge killed by SIGKILL takes its children with it, by the end of their stdin",
  ignore: !LINUX,
  fn: () =>
    withCuo(HANGING, {}, async (bench) => {
      const bridge = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--quiet",
          "--no-prompt",
          "--allow-env=PATH,HOME",
          `--allow-run=${bench.fake.program}`,
          new URL("run_hanging.ts", import.meta.url).pathname,
          bench.fake.program,
          bench.fake.root,
        ],
        stdin: "null",
        stdout: "null",
        stderr: "inherit",
      }).spawn();
      const pids = await untilHanging(bench);
      assert.ok(isRunning(pids.child) && isRunning(pids.grandchild));
      bridge.kill("SIGKILL");
      await bridge.status;
      await eventually(() =>
        !isRunning(pids.child) && !isRunning(pids.grandchild)
      );
    }),
});
