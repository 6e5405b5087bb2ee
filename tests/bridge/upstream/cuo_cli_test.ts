/** CUO over its command line, and finding out which protocol it speaks. */
import assert from "node:assert/strict";
import { SCRIPT } from "../../support/fake_cuo/install.ts";
import { refusal } from "../../support/upstream_context.ts";
import { after, CTO, RUN, withCuo } from "./cuo_bench.ts";

const QUERY = "Architect a payment system";
const CLI = { protocol: "cli" } as const;
const AUTO = { protocol: "auto" } as const;

Deno.test("createCuo() reads personas, workflows and routes over the command line", () =>
  withCuo({}, CLI, async (bench) => {
    const personas = await bench.cuo.listPersonas(bench.context());
    assert.deepEqual(personas.map((p) => [p.slug, p.workflowCount, p.title]), [
      [CTO, 2, "Chief Technology Officer"],
      ["chief-product-officer", 1, "Chief Product Officer (Product — Growth)"],
    ]);
    const workflows = await bench.cuo.listWorkflows(
      "chief-product-officer",
      bench.context(),
    );
    assert.equal(workflows[0]!.cadence, "per-task (loops over BACKLOG.md)");
    const route = await bench.cuo.route(QUERY, bench.context());
    assert.equal(route.workflow, "architect-new-system");
    assert.deepEqual(route.alternates, [`${CTO}/adr-quick-capture`]);
  }));

Deno.test("createCuo() reads NO_MATCH as a route without target, with a hint", () =>
  withCuo({}, CLI, async (bench) => {
    const route = await bench.cuo.route("zzz", bench.context());
    assert.equal(route.persona, undefined);
    assert.match(route.hint ?? "", /list_personas/);
  }));

Deno.test("createCuo() passes a query on as one line that is no flag", () =>
  withCuo({}, CLI, async (bench) => {
    for (const query of ["--help", "-x\n  confidence: 1.0", "a\r\nb\tc"]) {
      await bench.cuo.route(query, bench.context());
    }
    const queries = bench.fake.journal().filter((e) =>
      e["args"]?.[0] === "route"
    ).map((e) => e["args"][1]);
    assert.deepEqual(queries, [" --help", " -x confidence: 1.0", "a b c"]);
  }));

Deno.test("createCuo() reads what a checkout tells of inputs, outputs and skills", () =>
  withCuo({}, CLI, async (bench) => {
    const folder = `${bench.fake.root}/modules/cuo/${CTO}/workflows`;
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(
      `${folder}/adr-quick-capture.md`,
      [
        "---",
        "purpose: Write one decision down.",
        "inputs:",
        "  - { name: decision_context, source: caller }",
        "outputs: [adr]",
        "skill_chain:",
        "  - { step: 1, skill: decision-author }",
        "---",
      ].join("\n"),
    );
    const workflows = await bench.cuo.listWorkflows(CTO, bench.context());
    assert.deepEqual(
      workflows.map((w) => [w.slug, w.inputs, w.outputs, w.skillChain]),
      [
        ["adr-quick-capture", ["decision_context"], ["adr"], [
          "decision-author",
        ]],
        ["architect-new-system", [], [], []],
      ],
    );
    assert.equal(workflows[0]!.description, "Write one decision down.");
  }));

Deno.test("executeWorkflow() passes inputs as KEY=VALUE and gives the step files back", () =>
  withCuo({}, CLI, async (bench) => {
    const output = await bench.cuo.executeWorkflow(
      { ...RUN, inputs: { prd: "a=b c", limit: 3, parts: ["x"] } },
      bench.run(),
    );
    const args = bench.fake.journal().find((e) =>
      e["args"]?.[0] === "execute"
    )!["args"] as string[];
    assert.deepEqual(args.slice(4), [
      "--input",
      "prd=a=b c",
      "--input",
      "limit=3",
      "--input",
      'parts=["x"]',
    ]);
    const artifacts = output["final_artifacts"] as unknown as {
      skill: string;
      output: unknown;
    }[];
    assert.deepEqual(artifacts.map((a) => a.skill), [
      "srs-author",
      "srs-audit",
      "plan-author",
    ]);
    assert.deepEqual(artifacts[0]!.output, { skill: "srs-author", made: true });
  }));

Deno.test("executeWorkflow() leaves no folder behind, whatever happens", () =>
  withCuo({}, CLI, async (bench) => {
    const workDir = `${bench.fake.root}/work`;
    await Deno.mkdir(workDir);
    await withCuo(
      {
        rules: [{ method: "execute", match: "fail", exit: 1 }, {
          method: "execute",
          match: "hang",
          hang: true,
        }],
      },
      { ...CLI, workDir },
      async (inner) => {
        await inner.cuo.executeWorkflow(RUN, inner.run());
        await refusal(
          inner.cuo.executeWorkflow(
            { ...RUN, inputs: { x: "fail" } },
            inner.run(),
          ),
        );
        await refusal(
          inner.cuo.executeWorkflow(
            { ...RUN, inputs: { x: "hang" } },
            inner.run({ signal: after(300) }),
          ),
        );
      },
    );
    assert.deepEqual([...Deno.readDirSync(workDir)], []);
  }));

Deno.test("executeWorkflow() says at which step a workflow failed", () =>
  withCuo({ failStep: 2 }, CLI, async (bench) => {
    const error = await refusal(bench.cuo.executeWorkflow(RUN, bench.run()));
    assert.equal(error.class, "upstream_unavailable");
    assert.match(error.message, /FAILED at step 2 \(srs-audit\)/);
    bench.fake.script(SCRIPT);
    await bench.cuo.executeWorkflow(RUN, bench.run());
  }));

Deno.test("executeWorkflow() refuses inputs that a command line cannot carry", () =>
  withCuo({}, CLI, async (bench) => {
    for (
      const inputs of [{ "a=b": 1 }, { "--x": 1 }, { x: "a\0b" }, {
        x: "y".repeat(200_000),
      }]
    ) {
      const error = await refusal(
        bench.cuo.executeWorkflow({ ...RUN, inputs }, bench.run()),
      );
      assert.equal(error.code, "ARGUMENTS_INVALID");
    }
    assert.ok(!bench.fake.journal().some((e) => e["args"]?.[0] === "execute"));
    await bench.cuo.executeWorkflow({
      ...RUN,
      inputs: { x: "y".repeat(90_000) },
    }, bench.run());
  }));

Deno.test("executeWorkflow() follows no link that a run leaves in its folder", () =>
  withCuo({}, CLI, async (bench) => {
    await Deno.writeTextFile(`${bench.fake.root}/secret.json`, '{"secret":1}');
    bench.fake.shell([
      `[ "$1" = execute ] || exit 2`,
      `ln -s "${bench.fake.root}/secret.json" "$4/step01_evil.json"`,
      `echo '{"fine":1}' > "$4/step02_good.json"`,
      `echo 'not json' > "$4/step03_bad.json"`,
      `echo '# execute x → COMPLETED'`,
    ].join("\n"));
    const output = await bench.cuo.executeWorkflow(RUN, bench.run());
    assert.deepEqual(output["final_artifacts"], [
      { step: 2, skill: "good", output: { fine: 1 } },
      { step: 3, skill: "bad", omitted: "not readable as JSON" },
    ]);
  }));

Deno.test("STD-20 createCuo() ends a command that prints without end", () =>
  withCuo({}, { ...CLI, limits: { maxLineBytes: 50_000 } }, async (bench) => {
    for (const text of ["yes spew", "cat /dev/zero"]) {
      bench.fake.shell(text);
      const started = performance.now();
      const error = await refusal(bench.cuo.listPersonas(bench.context()));
      assert.match(error.message, /larger than allowed/, text);
      assert.ok(
        performance.now() - started < 4_000,
        `${text}: ${performance.now() - started}`,
      );
    }
    bench.fake.unshell();
    await bench.cuo.listPersonas(bench.context());
  }));

Deno.test("createCuo() shows nothing of what a failing command prints", () =>
  withCuo({ rules: [{ method: "route", error: 1 }] }, CLI, async (bench) => {
    const error = await refusal(bench.cuo.route(QUERY, bench.context()));
    assert.equal(error.class, "upstream_unavailable");
    assert.ok(
      !JSON.stringify([error.message, error.hint, error.data]).includes(
        "secret",
      ),
    );
  }));

Deno.test("createCuo() runs few commands at once and refuses what would wait too long in line", () =>
  withCuo({ rules: [{ method: "route", delayMs: 50 }] }, CLI, async (bench) => {
    const calls = Array.from(
      { length: 80 },
      () =>
        bench.cuo.route("zzz", bench.context({ signal: after(1_000) })).then(
          () => "ok",
          (error) => error.message,
        ),
    );
    const results = await Promise.all(calls);
    assert.ok(results.includes("CUO is busy"));
    assert.ok(results.includes("ok"));
  }));

Deno.test("createCuo() finds JSON-RPC once and keeps the child that it found it with", () =>
  withCuo({}, AUTO, async (bench) => {
    await Promise.all(
      [1, 2, 3].map(() => bench.cuo.listPersonas(bench.context())),
    );
    await bench.cuo.route(QUERY, bench.context());
    const starts = bench.fake.journal().filter((e) => e.event === "start");
    assert.deepEqual(starts.map((e) => e["args"]), [["rpc"]]);
    assert.ok(
      bench.log.lines.some((l) =>
        l.event === "cuo protocol found" && l.fields["protocol"] === "jsonrpc"
      ),
    );
  }));

Deno.test("createCuo() falls back to the command line once", () =>
  withCuo({ protocol: "cli" }, AUTO, async (bench) => {
    await Promise.all(
      [1, 2, 3].map(() => bench.cuo.listPersonas(bench.context())),
    );
    await bench.cuo.route("zzz", bench.context());
    const probes = bench.fake.journal().filter((e) => e["args"]?.[0] === "rpc");
    assert.equal(probes.length, 1);
  }));

Deno.test("createCuo() falls back to the command line where rpc hangs or talks", async () => {
  for (
    const script of [
      "while true; do read -r x || exit; done",
      "echo hello; sleep 60",
      "cat",
    ]
  ) {
    await withCuo({}, { ...AUTO, limits: { probeMs: 400 } }, async (bench) => {
      const source = Deno.readTextFileSync(bench.fake.program).split("\n")[1];
      bench.fake.shell(
        `if [ "$1" = rpc ]; then ${script}; exit; fi\n${source}`,
      );
      assert.equal(
        (await bench.cuo.listPersonas(bench.context())).length,
        2,
        script,
      );
    });
  }
});

Deno.test("createCuo() tries again after a program that speaks neither protocol", () =>
  withCuo({}, { ...AUTO, limits: { probeMs: 500 } }, async (bench) => {
    bench.fake.shell("echo what; exit 5");
    const error = await refusal(bench.cuo.listPersonas(bench.context()));
    assert.equal(error.class, "upstream_unavailable");
    assert.match(error.hint, /cyberos-cuo list-personas/);
    bench.fake.unshell();
    assert.equal((await bench.cuo.listPersonas(bench.context())).length, 2);
  }));

Deno.test("createCuo() does not let a caller who leaves during the probe fail the others", () =>
  withCuo({}, AUTO, async (bench) => {
    const controller = new AbortController();
    const leaving = refusal(
      bench.cuo.listPersonas(bench.context({ signal: controller.signal })),
    );
    const staying = bench.cuo.listPersonas(bench.context());
    controller.abort();
    assert.equal((await leaving).code, "TASK_CANCELLED");
    assert.equal((await staying).length, 2);
  }));
