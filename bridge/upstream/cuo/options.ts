/** What CUO is created with. */
import type { Clock, Logger, Telemetry } from "../../ports.ts";
import type { Credential, Fetch } from "../common/rest_client.ts";
import type { ChildTimes } from "./child.ts";
import type { Environment } from "./environment.ts";
import type { ProcessTree } from "./process_tree.ts";
import type { SharedRpcTimes } from "./shared_rpc.ts";

/** What `createCuo` needs. */
export interface CuoOptions {
  /** `CYBEROS_CUO`: a name on PATH or an absolute path; `undefined` where it was looked for and not found. */
  readonly program: string | undefined;
  /** `CYBEROS_CUO_PROTOCOL`. */
  readonly protocol: "auto" | "jsonrpc" | "cli";
  /** `CUO_ENDPOINT`: CUO over HTTP; wins over the program. */
  readonly endpoint?: string;
  /** The bridge's own credential for the endpoint; never a caller's token. */
  readonly token?: Credential;
  readonly fetch?: Fetch;
  /** `CYBEROS_ROOT`: a checkout of CyberOS, told to the program and read for what its command line leaves out. */
  readonly root?: string;
  /** This process's variables; only a short list of them reaches the program. */
  readonly environment: Environment;
  /** More variables that the operator wants the program to have, by name. */
  readonly passEnvironment?: readonly string[];
  /** Where the command line may leave its results; the system's temporary folder by default. */
  readonly workDir?: string;
  readonly telemetry: Telemetry;
  readonly log: Logger;
  readonly clock: Clock;
  /** Ends what the program leaves behind; made where this process may signal others. */
  readonly processTree?: ProcessTree;
  readonly limits?: Partial<CuoLimits>;
}

/** Bounds of CUO. */
export interface CuoLimits extends ChildTimes, SharedRpcTimes {
  /** For each call but a run, which its caller bounds. */
  readonly shortCallMs: number;
  /** For each of the two protocols that `auto` tries. */
  readonly probeMs: number;
  /** One message or line of output. */
  readonly maxLineBytes: number;
}

/** The bounds where none are given. */
export const CUO_LIMITS: CuoLimits = {
  shortCallMs: 20_000,
  probeMs: 10_000,
  maxLineBytes: 4 * 1024 * 1024,
  graceMs: 1_500,
  drainMs: 250,
  hungMs: 2_000,
  hedgeMs: 3_000,
  backoffMs: 200,
  maxBackoffMs: 10_000,
  patienceMs: 500,
  idleMs: 600_000,
};
