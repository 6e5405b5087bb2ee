/** One cold scan of a skills folder, or the bare reading of its files; prints the milliseconds. */
import { createSkills } from "../bridge/upstream/skills/skills.ts";
import { UpstreamBench } from "../tests/support/upstream_context.ts";

const [mode, directory] = Deno.args as [string, string];
const bench = new UpstreamBench();
const context = bench.context();
const start = performance.now();
if (mode === "scan") {
  const skills = createSkills({
    directory,
    telemetry: bench.telemetry,
    log: bench.log,
    clock: bench.clock,
  });
  await skills.list(context);
} else {
  const reads: Promise<string>[] = [];
  for await (const { name } of Deno.readDir(directory)) {
    reads.push(Deno.readTextFile(`${directory}/${name}/SKILL.md`));
  }
  await Promise.all(reads);
}
const took = performance.now() - start;
Deno.stdout.writeSync(new TextEncoder().encode(String(took)));
