/** A process that runs a workflow and nothing else; a test kills it. Not a test itself. */
import { createCuo } from "../../../bridge/upstream/cuo/cuo.ts";
import { UpstreamBench } from "../../support/upstream_context.ts";
import { RUN } from "./cuo_bench.ts";

const [program, root] = Deno.args;
const bench = new UpstreamBench();
const cuo = createCuo({
  program: program!,
  protocol: "jsonrpc",
  root: root!,
  environment: { PATH: Deno.env.get("PATH"), HOME: Deno.env.get("HOME") },
  telemetry: bench.telemetry,
  log: bench.log,
  clock: bench.clock,
});
await cuo.executeWorkflow(RUN, bench.run());
