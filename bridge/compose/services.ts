/** Upstreams and tasks, made on first use. */
import { BridgeError } from "../errors.ts";
import type {
  Clock,
  Logger,
  TaskRunner,
  Telemetry,
  Upstreams,
} from "../ports.ts";
import type { ComposeOptions } from "./mod.ts";

/** What {@link createServices} needs. */
export interface ServicesOptions extends ComposeOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly telemetry: Telemetry;
}

/** The lazily made services. */
export interface Services {
  readonly upstreams: () => Promise<Upstreams>;
  readonly tasks: () => Promise<TaskRunner>;
  close(): Promise<void>;
}

/** Creates the getters. */
export function createServices(_options: ServicesOptions): Services {
  return {
    upstreams: () =>
      Promise.reject(
        new BridgeError("UPSTREAM_NOT_CONFIGURED", "Not here yet"),
      ),
    tasks: () =>
      Promise.reject(new BridgeError("STORE_UNAVAILABLE", "Not here yet")),
    close: () => Promise.resolve(),
  };
}
