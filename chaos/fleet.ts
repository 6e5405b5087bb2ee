/** Three instances of the bridge, as an operator's supervisor would keep them. */
import {
  type HttpBridge,
  type JsonRpcAnswer,
  type Services,
  startHttpBridge,
} from "../tests/e2e/installation.ts";
import type { FakeCuo } from "../tests/support/fake_cuo/install.ts";
import type { TestDatabase } from "../tests/support/postgres.ts";

/** What an instance answered, or that it did not. */
export type Reply = JsonRpcAnswer | { readonly unreachable: string };

/** The instances. */
export interface Fleet extends AsyncDisposable {
  readonly size: number;
  /** How often an instance was killed. */
  readonly kills: number;
  post(instance: number, token: string, message: unknown): Promise<Reply>;
  /** kill -9, and a new one in its place. Resolves with the moment of its death, epoch milliseconds. */
  replace(instance: number): Promise<number>;
  /** What it lacks to be ready; undefined when it is. */
  lacks(instance: number): Promise<string | undefined>;
}

/** What the instances share. */
export interface FleetOptions {
  readonly services: Services;
  readonly cuo: FakeCuo;
  readonly bridgeUrl: string;
  readonly size: number;
  readonly leaseSeconds: number;
}

// No call may take longer: the bridge's own deadlines are shorter.
const CALL_MS = 20_000;

/** Starts the instances. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const database = { bridgeUrl: options.bridgeUrl } as TestDatabase;
  const start = (): Promise<HttpBridge> =>
    startHttpBridge(options.services, database, options.cuo, [
      "--cuo-protocol=jsonrpc",
      `--task-lease-seconds=${options.leaseSeconds}`,
      "--max-tasks-per-subject=1000",
      "--max-tasks-per-tenant=1000",
      "--max-concurrent-calls=1000",
      "--max-concurrent-calls-per-tenant=1000",
      "--calls-per-second=10000",
    ]);
  const bridges = await Promise.all(
    Array.from({ length: options.size }, start),
  );
  let kills = 0;
  const at = (instance: number): HttpBridge => bridges[instance] as HttpBridge;
  return {
    size: options.size,
    get kills() {
      return kills;
    },
    async post(instance, token, message) {
      try {
        return (await inTime(at(instance).post(token, message))).body;
      } catch (error) {
        return {
          unreachable: error instanceof Error ? error.message : String(error),
        };
      }
    },
    async replace(instance) {
      kills++;
      await at(instance).stop("SIGKILL");
      const diedAt = Date.now();
      bridges[instance] = await start();
      return diedAt;
    },
    async lacks(instance) {
      const url = new URL("/readyz", at(instance).url);
      try {
        const response = await inTime(fetch(url));
        const text = await response.text();
        return response.ok ? undefined : `${response.status} ${text}`;
      } catch (error) {
        return String(error);
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(bridges.map((bridge) => bridge.stop()));
    },
  };
}

function inTime<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error("no answer in time")),
      CALL_MS,
    );
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
