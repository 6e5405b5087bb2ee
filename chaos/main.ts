/**
 * `deno task chaos [--short] [--seed=N] [--seconds=N] [--tasks=N]`: ends with
 * 1 when a promise is broken. Needs PostgreSQL's server programs and bash.
 */
import { parseArgs } from "node:util";
import { type ChaosReport, runChaos } from "./run.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    short: { type: "boolean", default: false },
    seed: { type: "string" },
    seconds: { type: "string" },
    tasks: { type: "string" },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
const say = (text: string): void => {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
};

say(`Seed ${seed}`);
const startedAt = performance.now();
const report = await runChaos({
  seed,
  seconds: Number(values.seconds ?? (values.short ? 15 : 600)),
  concurrency: Number(values.tasks ?? (values.short ? 40 : 200)),
  every: values.short ? 1.5 : 6,
  stepSeconds: values.short ? 1 : 6,
  leaseSeconds: values.short ? 6 : 10,
  say,
});
say(table(report));
const broken = report.verdicts.flatMap((verdict) => verdict.broken);
say(
  broken.length === 0
    ? `Every promise held (seed ${seed}, ${
      Math.round((performance.now() - startedAt) / 1000)
    } s)`
    : `${broken.length} cases broke a promise; repeat with --seed=${seed}`,
);
Deno.exit(broken.length === 0 ? 0 : 1);

function table(report: ChaosReport): string {
  const { record, disasters } = report;
  const lines: (readonly [string, string | number])[] = [
    ["workflows accepted", record.tasks.length],
    ...Object.entries(report.states).map(([state, n]) =>
      [`  ${state}`, n] as const
    ),
    ["calls", record.calls],
    ["  refused or unanswered during outages", record.unavailable],
    ["  starts repeated under their key", record.repeats],
    ["  looks at another tenant's task", record.probes],
    ["instances killed (-9) and replaced", disasters.kills.length],
    [
      "PostgreSQL stopped fast, crashed",
      `${disasters.fastStops}, ${disasters.immediateStops}`,
    ],
    ["connections killed", disasters.backendKills],
    ["memory service failures", disasters.memoryFlaps],
    [
      "last task ended after the last disaster",
      `${(report.lastTaskEndedAfterMs / 1000).toFixed(1)} s`,
    ],
  ];
  const verdicts = report.verdicts.flatMap(({ promise, cases, broken }) => [
    `| ${promise} | ${cases} | ${
      broken.length === 0 ? "held" : `BROKEN ${broken.length}`
    } |`,
    ...broken.slice(0, 5).map((text) => `|   ${text.slice(0, 300)} | | |`),
  ]);
  return [
    "",
    "| what happened | |",
    "|---|---|",
    ...lines.map(([name, value]) => `| ${name} | ${value} |`),
    "",
    "| promise | cases | |",
    "|---|---|---|",
    ...verdicts,
    "",
  ].join("\n");
}
