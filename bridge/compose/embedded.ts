/** The services of `--embedded`. */
import { BridgeError } from "../errors.ts";
import type { Services, ServicesOptions } from "./services.ts";

/** Creates the getters. */
export function embeddedServices(_options: ServicesOptions): Services {
  const refuse = () =>
    Promise.reject(new BridgeError("UPSTREAM_NOT_CONFIGURED", "Not here yet"));
  return { upstreams: refuse, tasks: refuse, close: () => Promise.resolve() };
}
