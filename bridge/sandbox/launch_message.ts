/** What the launcher tells the sandboxed worker, and what it hears back. */
import type { ConfigProblem } from "../config/load.ts";
import type { ProcessRef } from "../upstream/cuo/process_tree.ts";
import type { BridgeConfig } from "../config/settings.ts";

/** Subcommands of `cyberos-mcp-bridge`; `serve` has no name on the command line. */
export type BridgeCommand =
  | "serve"
  | "migrate"
  | "token"
  | "reset"
  | "check"
  | "health";

/** Everything that the worker needs to know; it reads nothing of the machine by itself. */
export interface LaunchMessage {
  readonly type: "launch";
  readonly command: BridgeCommand;
  /** The subcommand's own flags, such as `--dry-run`. */
  readonly args: readonly string[];
  readonly config: BridgeConfig;
  /** Wrong values of environment or file, with which stdio starts nevertheless (decision D11). */
  readonly problems: readonly ConfigProblem[];
  /** Keys of {@link BridgeConfig} that somebody set. */
  readonly given: readonly (keyof BridgeConfig)[];
  /** OpenTelemetry's variables. */
  readonly otelEnv: Readonly<Record<string, string>>;
  /** What a child program may see of the environment: never a token. */
  readonly childEnv: Readonly<Record<string, string>>;
  /** The CUO program's absolute path, or `undefined` when there is none. */
  readonly cuoProgram: string | undefined;
  /** The embedded data folder, or `undefined` when it is not needed. */
  readonly dataDir: string | undefined;
  /** A folder of this process's own for CUO's output; removed at the end. */
  readonly workDir: string | undefined;
}

/** Asks the worker to end in good order. */
export interface StopMessage {
  readonly type: "stop";
  readonly reason: string;
}

/** The worker is done. */
export interface ExitMessage {
  readonly type: "exit";
  readonly code: number;
}

/** What the worker may ask the launcher about the processes that it started. */
export type ProcessRequest =
  & { readonly type: "processes"; readonly id: number }
  & (
    | { readonly ask: "descendants"; readonly pid: number }
    | { readonly ask: "kill"; readonly processes: readonly ProcessRef[] }
  );

/** The launcher's answer. */
export interface ProcessReply {
  readonly type: "processes";
  readonly id: number;
  readonly found: readonly ProcessRef[];
  readonly killed: number;
}
