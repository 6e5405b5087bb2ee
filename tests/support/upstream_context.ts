/** What an upstream is called with, made for tests. */
import type { RunContext, UpstreamContext } from "../../bridge/ports.ts";
import type { Progress } from "../../bridge/types.ts";
import { BridgeError } from "../../bridge/errors.ts";
import { FakeLogger } from "./fake_logger.ts";
import { FakeTelemetry } from "./fake_telemetry.ts";
import { TENANT_A } from "./tokens.ts";

/** Telemetry, log and contexts of one test. */
export class UpstreamBench {
  readonly telemetry: FakeTelemetry = new FakeTelemetry();
  readonly log: FakeLogger = new FakeLogger();
  readonly clock: { now(): number } = { now: () => Date.now() };
  readonly progress: Progress[] = [];

  /** For a short call. */
  context(
    options: {
      readonly signal?: AbortSignal;
      readonly tenantId?: string;
      readonly subject?: string;
    } = {},
  ): UpstreamContext {
    return {
      principal: {
        subject: options.subject ?? "user-1",
        tenantId: options.tenantId ?? TENANT_A,
        scopes: new Set(),
      },
      span: this.telemetry.startSpan("tools/call"),
      signal: options.signal ?? new AbortController().signal,
    };
  }

  /** For a run. */
  run(
    options: { readonly signal?: AbortSignal; readonly tenantId?: string } = {},
  ): RunContext {
    return {
      ...this.context(options),
      taskId: `t-${crypto.randomUUID()}`,
      onProgress: (progress) => this.progress.push(progress),
    };
  }
}

/** The refusal that the promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<BridgeError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof BridgeError) return error;
    throw error;
  }
  throw new Error("it did not refuse");
}

/** Waits until the condition holds; fails after a while. */
export async function eventually(
  condition: () => boolean,
  timeoutMs = 5_000,
): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > until) throw new Error("it never came to be");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
