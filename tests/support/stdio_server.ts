/** A program: the real protocol and stdio transport over in-memory upstreams, for tests with real pipes. */
import type { RunContext } from "../../bridge/ports.ts";
import { serveStdio } from "../../bridge/transports/stdio.ts";
import { processStreams } from "../../bridge/transports/stdio_streams.ts";
import { createProtocol } from "../../bridge/wire/protocol.ts";
import { principal } from "./bridge_harness.ts";
import { FakeLogger } from "./fake_logger.ts";
import { FakeTaskRunner } from "./fake_task_runner.ts";
import { FakeTelemetry } from "./fake_telemetry.ts";
import { FakeUpstreams } from "./fake_upstreams.ts";

const clock = { now: () => Date.now() };
const log = new FakeLogger();
const upstreams = new FakeUpstreams();
const tasks = new FakeTaskRunner(clock);

upstreams.behaviours.set("cuo.route", async (input, { signal }) => {
  const [word, number] = String(input).split(" ");
  if (word === "sleep") {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Number(number));
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
  const rationale = word === "big" ? "é".repeat(Number(number)) : String(input);
  return { confidence: 0, alternates: [], rationale };
});

// The SDK's client forgets who hears of progress when the answer comes in the same read.
const PAUSE_MS = 40;
const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

upstreams.behaviours.set("cuo.executeWorkflow", async (_input, context) => {
  const { onProgress } = context as RunContext;
  for (const step of [1, 2]) {
    onProgress({ step, total: 2, message: `step ${step}` });
    await pause();
  }
  return { steps_executed: 2, final_artifacts: [] };
});

const protocol = createProtocol({
  upstreams: () => Promise.resolve(upstreams),
  tasks: () => Promise.resolve(tasks),
  telemetry: new FakeTelemetry(),
  clock,
  log,
  pluginId: "cyberos",
  version: "1.0.0",
});
const stop = new AbortController();
Deno.addSignalListener("SIGTERM", () => stop.abort());
Deno.addSignalListener("SIGINT", () => stop.abort());
await serveStdio(protocol, {
  ...processStreams(),
  signal: stop.signal,
  authenticate: () => Promise.resolve(principal()),
  log,
});
Deno.exit(0);
