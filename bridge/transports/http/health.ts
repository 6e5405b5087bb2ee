/** `/healthz` says that the process lives, `/readyz` what it leans on. */
import type { DependencyStatus } from "../../types.ts";

/** Asks every dependency. */
export type Readiness = (
  signal: AbortSignal,
) => Promise<readonly DependencyStatus[]>;

/** What `/readyz` answers. */
export interface ReadinessReport {
  readonly status: 200 | 503;
  readonly text: string;
}

const TIMEOUT_MS = 3_000;
/** Probes of many balancers, or of a stranger, ask the dependencies once. */
const FRESH_MS = 1_000;

/** What `/healthz` answers. */
export const HEALTHY: string = JSON.stringify({ status: "ok" });

/** Creates the question of `/readyz`. Its answer never rejects and is shared for a second. */
export function createReadiness(
  readiness: Readiness,
  now: () => number,
): () => Promise<ReadinessReport> {
  let asked: Promise<ReadinessReport> | undefined;
  let askedAtMs = 0;
  return () => {
    if (asked === undefined || now() - askedAtMs >= FRESH_MS) {
      askedAtMs = now();
      asked = report(readiness);
    }
    return asked;
  };
}

async function report(readiness: Readiness): Promise<ReadinessReport> {
  try {
    const dependencies = await readiness(AbortSignal.timeout(TIMEOUT_MS));
    const down = dependencies.some(({ state }) => state === "down");
    return {
      status: down ? 503 : 200,
      text: JSON.stringify({
        status: down ? "not ready" : "ready",
        dependencies,
      }),
    };
  } catch {
    return {
      status: 503,
      text: JSON.stringify({ status: "not ready", dependencies: [] }),
    };
  }
}
