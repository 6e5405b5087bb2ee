/** Starting children of the one CUO program, all in the same clean way. */
import type { JsonObject } from "../../../schema/json.ts";
import type { Logger } from "../../ports.ts";
import { Child, type ChildTimes } from "./child.ts";
import { ChildLog } from "./child_log.ts";
import { childEnvironment, type EnvironmentSource } from "./environment.ts";
import type { Line } from "./line_splitter.ts";
import { createProcessTree, type ProcessTree } from "./process_tree.ts";
import { isPath, resolveProgram, startRefusal } from "./program.ts";
import { RpcChild } from "./rpc_child.ts";

/** What {@link Launcher} needs. */
export interface LauncherOptions extends EnvironmentSource {
  /** A name on PATH or an absolute path; `undefined` where there is none. */
  readonly program: string | undefined;
  readonly log: Logger;
  readonly times: ChildTimes;
  readonly maxLineBytes: number;
  /** Ends what children leave behind; by default made where this process may. */
  readonly processTree?: ProcessTree;
}

/** What a child belongs to. */
export interface RpcStart {
  /** For each of its lines in the log: trace id, task id. */
  readonly logFields?: JsonObject;
  /** Whether the notification means something. */
  readonly onNotification?: (method: string, params: JsonObject) => boolean;
}

/** What a command of the CLI is started with. */
export interface CommandStart {
  readonly args: readonly string[];
  readonly logFields?: JsonObject;
  readonly onLine: (line: Line) => void;
  /** Besides the log. */
  readonly onErrorLine?: (text: string) => void;
}

/** Starts children. The program is looked up once, at the first start that finds it. */
export class Launcher {
  readonly #options: LauncherOptions;
  #ready: Promise<Prepared> | undefined;

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  /** Starts `cyberos-cuo rpc`. @throws {BridgeError} It cannot be started. */
  async startRpc(start: RpcStart): Promise<RpcChild> {
    const prepared = await this.#prepare();
    const { onNotification } = start;
    const child: RpcChild = new RpcChild({
      log: this.#options.log,
      ...(onNotification === undefined ? {} : { onNotification }),
      start: ({ onLine }) =>
        this.#start(prepared, { args: ["rpc"], onLine }, () => ({
          trace_ids: child.traceIds,
          ...start.logFields,
        })),
    });
    return child;
  }

  /** Starts one command of the CLI. @throws {BridgeError} It cannot be started. */
  async startCommand(start: CommandStart): Promise<Child> {
    const fields = start.logFields ?? {};
    return this.#start(await this.#prepare(), start, () => fields);
  }

  #start(
    prepared: Prepared,
    start: CommandStart,
    logFields: () => JsonObject,
  ): Child {
    const { log, times, maxLineBytes } = this.#options;
    const childLog = new ChildLog(log, logFields);
    const child = Child.start({
      program: prepared.program,
      args: start.args,
      env: childEnvironment(this.#options),
      maxLineBytes,
      log,
      times,
      onLine: start.onLine,
      onErrorLine: (text) => {
        childLog.line(text);
        start.onErrorLine?.(text);
      },
      ...(prepared.processTree === undefined
        ? {}
        : { processTree: prepared.processTree }),
    });
    child.exit.finally(() => childLog.end());
    return child;
  }

  #prepare(): Promise<Prepared> {
    this.#ready ??= this.#look();
    return this.#ready;
  }

  async #look(): Promise<Prepared> {
    const { program, environment, processTree } = this.#options;
    if (program === undefined) {
      this.#ready = undefined;
      throw startRefusal(new Deno.errors.NotFound());
    }
    const found = await resolveProgram(program, environment["PATH"]);
    const tree = processTree ?? await createProcessTree();
    // A name that led nowhere is looked up again: it may be installed meanwhile.
    if (!isPath(found)) this.#ready = undefined;
    return {
      program: found,
      ...(tree === undefined ? {} : { processTree: tree }),
    };
  }
}

interface Prepared {
  readonly program: string;
  readonly processTree?: ProcessTree;
}
