/// <reference lib="webworker" />
/** The sandboxed side of the test: tries every escape and reports, one line each, on stdout. */
import type { LaunchMessage } from "../../bridge/sandbox/launch_message.ts";
import { ESCAPES } from "./escapes.ts";
import type { Targets } from "./targets.ts";

/** What one escape came to. */
export interface Report {
  readonly name: string;
  /** `refused`, or what it got. */
  readonly attempt: string;
  /** `worked`, or what went wrong. */
  readonly control: string;
}

async function outcome(act: () => unknown): Promise<string> {
  try {
    return await act() === false ? "nothing" : "worked";
  } catch (error) {
    return denied(error) ? "refused" : `failed: ${error}`;
  }
}

function denied(error: unknown): boolean {
  const { name, code, message } = error as Error & { code?: string };
  return name === "NotCapable" || code === "EACCES" || code === "EPERM" ||
    // A compiled program has no loader for what it was not compiled with.
    /Requires .* access|NotCapable|Module not found/.test(message);
}

self.onmessage = async ({ data }: MessageEvent<LaunchMessage>) => {
  const targets = JSON.parse(data.args[0] as string) as Targets;
  for (const { name, attempt, control } of ESCAPES) {
    const report: Report = {
      name,
      attempt: await outcome(() => attempt(targets)),
      control: await outcome(() => control(targets)),
    };
    Deno.stdout.writeSync(
      new TextEncoder().encode(`${JSON.stringify(report)}\n`),
    );
  }
  self.postMessage({ type: "exit", code: 0 });
};
