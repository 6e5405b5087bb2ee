/** A short stretch of `deno task chaos`, always the same. */
import assert from "node:assert/strict";
import { runChaos } from "../../../chaos/run.ts";
import { WITHOUT_POSTGRES } from "../../support/postgres.ts";

const bash = Deno.build.os === "linux";

Deno.test({
  name:
    "D7 chaos: killed instances, a crashed PostgreSQL and crashing children break no promise about tasks",
  ignore: WITHOUT_POSTGRES || !bash,
  async fn() {
    const { verdicts, record, disasters } = await runChaos({
      seed: 20251125,
      seconds: 9,
      concurrency: 16,
      every: 1,
      stepSeconds: 0.8,
      leaseSeconds: 8,
      say: () => {},
    });
    assert.deepEqual(verdicts.filter(({ broken }) => broken.length > 0), []);
    assert.ok(record.tasks.length > 10, `${record.tasks.length} tasks`);
    assert.ok(disasters.kills.length > 0, "an instance was killed");
    assert.ok(
      disasters.fastStops + disasters.immediateStops > 0,
      "PostgreSQL went away",
    );
  },
});
