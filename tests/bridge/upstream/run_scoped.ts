/** Uses CUO under scoped permissions and prints what came of it. Not a test itself. */
import { createCuo } from "../../../bridge/upstream/cuo/cuo.ts";
import { refusal, UpstreamBench } from "../../support/upstream_context.ts";
import { RUN } from "./cuo_bench.ts";

const [program, root] = Deno.args;
const bench = new UpstreamBench();
const create = (name: string) =>
  createCuo({
    program: name,
    protocol: "jsonrpc",
    root: root!,
    environment: { PATH: Deno.env.get("PATH"), HOME: Deno.env.get("HOME") },
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
  });
const cuo = create(program!);
const personas = await cuo.listPersonas(bench.context());
const controller = new AbortController();
const run = refusal(
  cuo.executeWorkflow(RUN, bench.run({ signal: controller.signal })),
);
controller.abort();
const cancelled = await run;
const other = await refusal(create("/bin/sh").listPersonas(bench.context()));
await cuo.close();
// deno-lint-ignore no-console -- what the test reads.
console.log(JSON.stringify({
  personas: personas.length,
  cancelled: cancelled.code,
  other: other.code,
}));
