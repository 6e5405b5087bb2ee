/** Log and spans, as configured. */
import { VERSION } from "../../schema/version.ts";
import type { BridgeConfig } from "../config/settings.ts";
import type { Clock, Logger, Telemetry } from "../ports.ts";
import { createLogger, stderrWriter } from "../telemetry/log.ts";
import { readOtelOptions } from "../telemetry/options.ts";
import { createTelemetry } from "../telemetry/telemetry.ts";
import { createOtlpSender } from "../telemetry/otlp_exporter.ts";
import { SpanQueue } from "../telemetry/span_queue.ts";

/** Time, as the machine tells it. */
export const SYSTEM_CLOCK: Clock = { now: () => Date.now() };

/** Creates the log, on stderr. */
export function createLog(config: BridgeConfig): Logger {
  return createLogger({
    level: config.logLevel,
    clock: SYSTEM_CLOCK,
    write: stderrWriter(),
  });
}

/** Creates the tracer; without a collector its spans carry ids only. */
export function createTracer(
  otelEnv: Readonly<Record<string, string>>,
  log: Logger,
): Telemetry {
  const options = readOtelOptions((name) => otelEnv[name], {
    name: "cyberos-mcp-bridge",
    version: VERSION,
  });
  for (const reason of options.warnings) {
    log.warn("telemetry.ignored", { reason });
  }
  const { url, sampler } = options;
  if (url === undefined) {
    return createTelemetry({ clock: SYSTEM_CLOCK, sampler });
  }
  const send = createOtlpSender({ ...options, url });
  const sink = new SpanQueue({ ...options, send, log });
  return createTelemetry({ clock: SYSTEM_CLOCK, sink, sampler });
}
