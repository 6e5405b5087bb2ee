/** Upstreams and tasks, made on first use. */
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
  /** Ends what was made, tasks first: their work uses the upstreams. */
  close(): Promise<void>;
}

/** Creates the getters; only what is asked for is imported. */
export function createServices(options: ServicesOptions): Services {
  const load = () =>
    options.config.embedded
      ? import("./embedded.ts").then((module) =>
        module.embeddedServices(options)
      )
      : import("./installed.ts").then((module) =>
        module.installedServices(options)
      );
  let made: Promise<Services> | undefined;
  const services = () => made ??= load();
  return {
    upstreams: async () => await (await services()).upstreams(),
    tasks: async () => await (await services()).tasks(),
    close: async () => {
      if (made !== undefined) await (await made).close();
    },
  };
}

/** Remembers a promise, and forgets it when it failed so that the next call tries again. */
export function once<T>(
  make: () => Promise<T>,
): (() => Promise<T>) & { made(): boolean } {
  let kept: Promise<T> | undefined;
  const get = () =>
    kept ??= make().catch((error) => {
      kept = undefined;
      throw error;
    });
  return Object.assign(get, { made: () => kept !== undefined });
}
