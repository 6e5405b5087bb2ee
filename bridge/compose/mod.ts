/** Which adapter stands behind which port. Everything heavy is made on first use. */
import { VERSION } from "../../schema/version.ts";
import type { BridgeConfig } from "../config/settings.ts";
import type {
  Clock,
  Logger,
  TaskRunner,
  Telemetry,
  Upstreams,
} from "../ports.ts";
import type { Principal } from "../types.ts";
import type { ProcessTree } from "../upstream/cuo/process_tree.ts";
import { createProtocol, type Protocol } from "../wire/protocol.ts";
import { createServices } from "./services.ts";
import { createIdentity, type Identity } from "./identity.ts";
import { createLog, createTracer, SYSTEM_CLOCK } from "./telemetry.ts";

/** How long the last spans may take. */
const SPANS_MS = 1000;

/** What a bridge is composed from. */
export interface ComposeOptions {
  readonly config: BridgeConfig;
  readonly otelEnv: Readonly<Record<string, string>>;
  readonly childEnv: Readonly<Record<string, string>>;
  readonly cuoProgram: string | undefined;
  readonly dataDir: string | undefined;
  readonly workDir: string | undefined;
  /** Ends what a CUO child leaves behind, where somebody can. */
  readonly processTree?: ProcessTree;
  /** Resource URLs beyond the configured one, once they are known. */
  readonly resourceUrls?: () => readonly string[];
  /** Admits a call of the caller, or throws; gives its release. */
  readonly enter?: (principal: Principal) => () => void;
}

/** A composed bridge. */
export interface Composition {
  readonly config: BridgeConfig;
  readonly protocol: Protocol;
  readonly identity: Identity;
  readonly log: Logger;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly upstreams: () => Promise<Upstreams>;
  readonly tasks: () => Promise<TaskRunner>;
  /** Ends tasks, children and connections, and sends the last spans; bounded in time. */
  close(): Promise<void>;
}

/** Composes a bridge. Nothing is connected, read or started before a call needs it. */
export function compose(options: ComposeOptions): Composition {
  const { config } = options;
  const clock = SYSTEM_CLOCK;
  const log = createLog(config);
  const telemetry = createTracer(options.otelEnv, log);
  const identity = createIdentity({
    config,
    clock,
    dataDir: options.dataDir,
    resourceUrls: () => [
      ...(config.resourceUrl === undefined ? [] : [config.resourceUrl]),
      ...(options.resourceUrls?.() ?? []),
    ],
  });
  const services = createServices({ ...options, clock, log, telemetry });
  const protocol = createProtocol({
    upstreams: services.upstreams,
    tasks: services.tasks,
    confirmations: identity.confirmations,
    telemetry,
    clock,
    log,
    pluginId: config.pluginId,
    version: VERSION,
    options: { protocolStrict: config.protocolStrict },
    ...(options.enter === undefined ? {} : { enter: options.enter }),
  });
  return {
    config,
    protocol,
    identity,
    log,
    clock,
    telemetry,
    upstreams: services.upstreams,
    tasks: services.tasks,
    async close() {
      await services.close();
      await telemetry.shutdown(SPANS_MS);
    },
  };
}
