/** Which driver serves, by configuration. */
import { ProtocolProbe } from "./auto_driver.ts";
import { readCheckout } from "./checkout.ts";
import { createCliDriver } from "./cli_driver.ts";
import type { CuoDriver } from "./driver.ts";
import { createHttpDriver } from "./http_driver.ts";
import { Launcher } from "./launcher.ts";
import type { CuoLimits, CuoOptions } from "./options.ts";
import { createRpcDriver } from "./rpc_driver.ts";

/** Gives the driver, perhaps after finding out which. */
export interface DriverSource {
  driver(signal: AbortSignal): Promise<CuoDriver>;
  close(): Promise<void>;
}

/** Creates the source; nothing is started or sent. */
export function selectDriver(
  options: CuoOptions,
  limits: CuoLimits,
): DriverSource {
  if (options.endpoint !== undefined) {
    return fixed(createHttpDriver({
      endpoint: options.endpoint,
      ...(options.token === undefined ? {} : { token: options.token }),
      ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
      clock: options.clock,
      log: options.log,
      timeoutMs: limits.shortCallMs,
      maxBytes: limits.maxLineBytes,
    }));
  }
  const launcher = createLauncher(options, limits);
  const rpc = () => createRpcDriver(launcher, limits);
  const cli = () => createCli(launcher, options);
  if (options.protocol === "jsonrpc") return fixed(rpc());
  if (options.protocol === "cli") return fixed(cli());
  return new ProtocolProbe({
    launcher,
    log: options.log,
    rpc,
    cli,
    timeoutMs: limits.probeMs,
  });
}

function createLauncher(options: CuoOptions, limits: CuoLimits): Launcher {
  return new Launcher({
    program: options.program,
    environment: options.environment,
    ...(options.root === undefined ? {} : { root: options.root }),
    ...(options.passEnvironment === undefined
      ? {}
      : { pass: options.passEnvironment }),
    ...(options.processTree === undefined
      ? {}
      : { processTree: options.processTree }),
    log: options.log,
    times: limits,
    maxLineBytes: limits.maxLineBytes,
  });
}

function createCli(launcher: Launcher, options: CuoOptions): CuoDriver {
  const { root, workDir, log } = options;
  return createCliDriver({
    launcher,
    log,
    ...(workDir === undefined ? {} : { workDir }),
    ...(root === undefined ? {} : {
      enrich: (persona, workflows) => readCheckout(root, persona, workflows),
    }),
  });
}

function fixed(driver: CuoDriver): DriverSource {
  return {
    driver: () => Promise.resolve(driver),
    close: () => driver.close(),
  };
}
