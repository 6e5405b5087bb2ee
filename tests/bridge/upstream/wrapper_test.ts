/** The wrapper in docs/upstreams.md, run as it stands there around programs that end badly. */
import assert from "node:assert/strict";
import { createCuo } from "../../../bridge/upstream/cuo/cuo.ts";
import {
  installFakeCuo,
  isRunning,
  SCRIPT,
} from "../../support/fake_cuo/install.ts";
import {
  eventually,
  refusal,
  UpstreamBench,
} from "../../support/upstream_context.ts";
import { RUN } from "./cuo_bench.ts";

const PYTHON = await new Deno.Command("python3", { args: ["--version"] })
  .output().then(({ success }) => success, () => false);
const IGNORE = !PYTHON || Deno.build.os !== "linux";

async function withWrapper(
  run: (
    bench: UpstreamBench & {
      fake: Awaited<ReturnType<typeof installFakeCuo>>;
      cuo: ReturnType<typeof createCuo>;
    },
  ) => Promise<void>,
  protocol: "jsonrpc" | "cli",
): Promise<void> {
  const page = await Deno.readTextFile(
    new URL("../../../docs/upstreams.md", import.meta.url),
  );
  const source = /```python\n([\s\S]*?)```/.exec(page)?.[1];
  assert.ok(source, "the page has no wrapper");
  const fake = await installFakeCuo();
  const wrapper = `${fake.root}/wrapper`;
  await Deno.writeTextFile(
    wrapper,
    source.replace("/opt/cyberos/bin/cyberos-cuo", fake.program),
    { mode: 0o755 },
  );
  const bench = new UpstreamBench();
  const cuo = createCuo({
    program: wrapper,
    protocol,
    root: fake.root,
    environment: Deno.env.toObject(),
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
    // As under --allow-run of the one program: nothing but the wrapper ends what is left.
    processTree: {
      descendants: () => Promise.resolve([]),
      kill: () => Promise.resolve(0),
    },
  });
  try {
    await run(Object.assign(bench, { fake, cuo }));
  } finally {
    await cuo.close();
    await fake.remove();
  }
}

for (const protocol of ["jsonrpc", "cli"] as const) {
  Deno.test({
    name:
      `STD-23 the wrapper of docs/upstreams.md passes everything on (${protocol})`,
    ignore: IGNORE,
    fn: () =>
      withWrapper(async (bench) => {
        assert.equal((await bench.cuo.listPersonas(bench.context())).length, 2);
        assert.equal(
          (await bench.cuo.executeWorkflow(RUN, bench.run()))["steps_executed"],
          3,
        );
        const error = await refusal(
          bench.cuo.listWorkflows("nobody", bench.context()),
        );
        assert.equal(error.code, "NOT_FOUND");
      }, protocol),
  });

  Deno.test({
    name:
      `STD-23 the wrapper of docs/upstreams.md leaves nothing of a program that ignores SIGTERM and the end of stdin (${protocol})`,
    ignore: IGNORE,
    fn: () =>
      withWrapper(async (bench) => {
        bench.fake.script({
          ...SCRIPT,
          rude: true,
          rules: [
            { method: "execute_workflow", grandchild: true, hang: true },
            { method: "execute", grandchild: true, hang: true },
          ],
        });
        const controller = new AbortController();
        const run = refusal(
          bench.cuo.executeWorkflow(
            RUN,
            bench.run({ signal: controller.signal }),
          ),
        );
        await eventually(() =>
          bench.fake.journal().some((e) => e.event === "grandchild")
        );
        const { pid, grandchild } = bench.fake.journal().find((e) =>
          e.event === "grandchild"
        )!;
        controller.abort();
        await run;
        await eventually(
          () => !isRunning(pid) && !isRunning(grandchild),
          2_000,
        );
      }, protocol),
  });
}
