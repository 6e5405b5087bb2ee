/** Whether what the bridge leans on works: `/readyz` and `check`. */
import type { DependencyStatus } from "../types.ts";
import type { Composition } from "./mod.ts";

/** Asks every dependency at once. Never rejects: one that cannot be asked is down. */
export async function dependencyStatuses(
  bridge: Pick<Composition, "identity" | "upstreams" | "tasks">,
  signal: AbortSignal,
): Promise<readonly DependencyStatus[]> {
  const asks: readonly (readonly [string, () => Promise<DependencyStatus>])[] =
    [
      ["keys", () => bridge.identity.authenticator.status(signal)],
      ["tasks", async () => (await bridge.tasks()).status(signal)],
      ["cuo", async () => (await bridge.upstreams()).cuo.status(signal)],
      ["memory", async () => (await bridge.upstreams()).memory.status(signal)],
      ["skills", async () => (await bridge.upstreams()).skills.status(signal)],
    ];
  return await Promise.all(asks.map(async ([name, ask]) => {
    try {
      return await within(signal, ask());
    } catch {
      return {
        name,
        state: "down",
        detail: "It did not answer in time",
      } as const;
    }
  }));
}

function within<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return Promise.race([work, promise]).finally(() =>
    signal.removeEventListener("abort", onAbort)
  );
}
