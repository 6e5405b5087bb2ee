/** CUO over an installed fake, for the tests of this folder. */
import { createCuo } from "../../../bridge/upstream/cuo/cuo.ts";
import type { CuoOptions } from "../../../bridge/upstream/cuo/options.ts";
import type { Cuo } from "../../../bridge/ports.ts";
import type { WorkflowRun } from "../../../bridge/upstream/cuo/driver.ts";
import {
  type FakeCuo,
  installFakeCuo,
  SCRIPT,
} from "../../support/fake_cuo/install.ts";
import type { FakeScript } from "../../support/fake_cuo/script.ts";
import { UpstreamBench } from "../../support/upstream_context.ts";

/** The persona of most tests. */
export const CTO = "chief-technology-officer";

/** A run that the fake knows. */
export const RUN: WorkflowRun = {
  persona: CTO,
  workflow: "architect-new-system",
  inputs: { prd: "the document" },
};

/** A fake, the port over it, and what they are called with. */
export interface CuoBench extends UpstreamBench {
  readonly fake: FakeCuo;
  readonly cuo: Cuo;
}

/** Runs a test over an installed fake and takes everything away after it. */
export async function withCuo(
  script: Partial<FakeScript>,
  options: Partial<CuoOptions>,
  run: (bench: CuoBench) => Promise<void>,
): Promise<void> {
  const fake = await installFakeCuo({ ...SCRIPT, ...script });
  const bench = new UpstreamBench();
  const cuo = createCuo({
    program: fake.program,
    protocol: "jsonrpc",
    root: fake.root,
    environment: Deno.env.toObject(),
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
    ...options,
    limits: { graceMs: 500, drainMs: 150, ...options.limits },
  });
  try {
    await run(Object.assign(bench, { fake, cuo }));
  } finally {
    await cuo.close();
    await fake.remove();
  }
}

/** A signal that aborts as a deadline does. */
export function after(ms: number): AbortSignal {
  return AbortSignal.timeout(ms);
}
