/** The runner of a bridge that was told of no database: it says so, and nothing else breaks. */
import { BridgeError } from "../errors.ts";
import type { TaskRunner } from "../ports.ts";

/** Refuses every task with the hint; the short tools do not need it. */
export function createAbsentTaskRunner(hint: string): TaskRunner {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new BridgeError(
        "UPSTREAM_NOT_CONFIGURED",
        "No task store is configured",
        { hint },
      ),
    );
  return {
    start: refuse,
    get: refuse,
    list: refuse,
    cancel: refuse,
    wait: refuse,
    status: () =>
      Promise.resolve({
        name: "postgres",
        state: "not configured",
        detail: hint,
      }),
    close: () => Promise.resolve(),
  };
}
