/** What goes wrong, when chance says so. */
import type { Services } from "../tests/e2e/installation.ts";
import type { PostgresCluster } from "../tests/support/postgres_cluster.ts";
import type { Fleet } from "./fleet.ts";
import type { Chance } from "./random.ts";

/** How often each disaster struck. */
export interface DisasterCount {
  /** When each instance was killed, epoch milliseconds. */
  readonly kills: number[];
  fastStops: number;
  immediateStops: number;
  memoryFlaps: number;
  backendKills: number;
}

/** What can be hurt. */
export interface DisasterOptions {
  readonly fleet: Fleet;
  readonly services: Services;
  readonly server: PostgresCluster;
  readonly chance: Chance;
  readonly seconds: number;
  /** Seconds between two disasters, on average. */
  readonly every: number;
  readonly terminateBackends: () => Promise<void>;
  readonly say: (text: string) => void;
}

/** Lets things go wrong for the given time; afterwards everything is up again. */
export async function disasters(
  options: DisasterOptions,
): Promise<DisasterCount> {
  const { fleet, services, server, chance, say } = options;
  const count: DisasterCount = {
    kills: [],
    fastStops: 0,
    immediateStops: 0,
    memoryFlaps: 0,
    backendKills: 0,
  };
  const until = performance.now() + options.seconds * 1000;
  // Each kind once in every round, in an order of chance.
  let round: string[] = [];
  while (performance.now() < until) {
    await pause(options.every * 1000 * (0.5 + chance.next()));
    if (round.length === 0) round = shuffled(chance);
    const kind = round.pop();
    say(`  ${kind}`);
    switch (kind) {
      case "kill -9 of an instance":
        count.kills.push(
          await fleet.replace(chance.between(0, fleet.size - 1)),
        );
        break;
      case "PostgreSQL stops fast":
      case "PostgreSQL crashes": {
        const fast = kind === "PostgreSQL stops fast";
        if (fast) count.fastStops++;
        else count.immediateStops++;
        await server.stop(fast ? "fast" : "immediate");
        await pause(300 + chance.next() * 2500);
        await server.start();
        break;
      }
      case "the memory service fails":
        count.memoryFlaps++;
        services.memoryStatus = chance.pick([500, 503, 429, 401]);
        await pause(500 + chance.next() * 1500);
        services.memoryStatus = 0;
        break;
      case "connections are killed":
        count.backendKills++;
        await options.terminateBackends().catch(() => {});
    }
  }
  services.memoryStatus = 0;
  return count;
}

function shuffled(chance: Chance): string[] {
  const kinds = [
    "kill -9 of an instance",
    "PostgreSQL stops fast",
    "kill -9 of an instance",
    "PostgreSQL crashes",
    "the memory service fails",
    "connections are killed",
  ];
  return kinds.map((kind) => ({ kind, at: chance.next() }))
    .sort((a, b) => a.at - b.at).map(({ kind }) => kind);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
