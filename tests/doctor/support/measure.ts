/** Examines bundles in a process of its own and prints the most memory that it ever had. */
import { examineBundle } from "../../../packer/doctor/examine.ts";
import { verdictsOf } from "../../../packer/doctor/report.ts";

const verdicts: unknown[] = [];
for (const file of Deno.args) {
  verdicts.push(verdictsOf(await examineBundle(file)));
}
const status = await Deno.readTextFile("/proc/self/status");
const peakKib = Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1]);
const line = JSON.stringify({ verdicts, peakBytes: peakKib * 1024 });
await Deno.stdout.write(new TextEncoder().encode(line));
