/** Finding out once which protocol the installed `cyberos-cuo` speaks. */
import { BridgeError } from "../../errors.ts";
import type { Logger } from "../../ports.ts";
import { orAbort, startDeadline } from "../common/deadline.ts";
import { runCommand } from "./cli_command.ts";
import { parsePersonas } from "./cli_output.ts";
import type { CuoDriver } from "./driver.ts";
import type { Launcher } from "./launcher.ts";
import { ChildGone, type RpcChild } from "./rpc_child.ts";
import { RpcRefusal } from "./rpc_message.ts";

/** What {@link ProtocolProbe} needs. */
export interface ProbeOptions {
  readonly launcher: Launcher;
  readonly log: Logger;
  readonly rpc: () => CuoDriver & { adopt(child: RpcChild): void };
  readonly cli: () => CuoDriver;
  /** How long each of the two protocols is waited for. */
  readonly timeoutMs: number;
}

/**
 * Asks `cyberos-cuo rpc` for the personas, and if it does not speak JSON-RPC
 * asks the command line. What answered is remembered; a failure is not, so that
 * the next call tries again.
 */
export class ProtocolProbe {
  readonly #options: ProbeOptions;
  readonly #closing = new AbortController();
  #found: CuoDriver | undefined;
  #running: Promise<CuoDriver> | undefined;

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** The driver to use. @throws {BridgeError} Neither protocol answers. */
  async driver(signal: AbortSignal): Promise<CuoDriver> {
    if (this.#found !== undefined) return this.#found;
    // Not bound to the signal of who asked first: the others wait for it too.
    this.#running ??= this.#probe().finally(() => this.#running = undefined);
    return await orAbort(this.#running, signal);
  }

  async close(): Promise<void> {
    this.#closing.abort(
      new BridgeError("SHUTTING_DOWN", "The bridge is shutting down"),
    );
    await this.#running?.catch(() => {});
    await this.#found?.close();
  }

  async #probe(): Promise<CuoDriver> {
    const child = await this.#options.launcher.startRpc({});
    const found = await this.#speaksRpc(child)
      ? this.#adopted(child)
      : await this.#speaksCli();
    this.#options.log.info("cuo protocol found", { protocol: found.protocol });
    this.#found = found;
    return found;
  }

  #adopted(child: RpcChild): CuoDriver {
    const driver = this.#options.rpc();
    driver.adopt(child);
    return driver;
  }

  async #speaksRpc(child: RpcChild): Promise<boolean> {
    const deadline = startDeadline(
      this.#closing.signal,
      this.#options.timeoutMs,
    );
    try {
      await child.request("list_personas", {}, {
        signal: deadline.signal,
        traceId: "",
      });
      return true;
    } catch (error) {
      // An error object is an answer, too: it speaks JSON-RPC.
      if (error instanceof RpcRefusal) return true;
      await child.stop();
      this.#closing.signal.throwIfAborted();
      if (!(error instanceof ChildGone) && !deadline.signal.aborted) {
        throw error;
      }
      return false;
    } finally {
      deadline.end();
    }
  }

  async #speaksCli(): Promise<CuoDriver> {
    const deadline = startDeadline(
      this.#closing.signal,
      this.#options.timeoutMs,
    );
    try {
      const end = await runCommand(this.#options.launcher, {
        args: ["list-personas"],
        signal: deadline.signal,
        logFields: {},
      });
      if (end.code === 0) {
        parsePersonas(end.lines);
        return this.#options.cli();
      }
      throw new Error(`list-personas ended with code ${end.code}`);
    } catch (cause) {
      this.#closing.signal.throwIfAborted();
      if (cause instanceof BridgeError) throw cause;
      throw new BridgeError(
        "UPSTREAM_UNAVAILABLE",
        "The program cyberos-cuo answers in no protocol that the bridge speaks",
        {
          cause,
          hint:
            'The operator must run "cyberos-cuo list-personas" by hand, look at its messages in the bridge\'s log, and check CYBEROS_ROOT and CYBEROS_CUO.',
        },
      );
    } finally {
      deadline.end();
    }
  }
}
