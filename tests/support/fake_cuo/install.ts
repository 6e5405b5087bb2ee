/** Puts the fake `cyberos-cuo` on disk as a program, and reads what it noted. */
import type { FakeScript } from "./script.ts";

/** One thing that a process of the fake noted. */
// deno-lint-ignore no-explicit-any -- read loosely by assertions.
export type JournalEntry = { pid: number; event: string } & Record<string, any>;

/** An installed fake. */
export interface FakeCuo {
  /** Absolute path of the program. */
  readonly program: string;
  /** The folder with the program alone, for PATH. */
  readonly binDir: string;
  /** For `CYBEROS_ROOT`. */
  readonly root: string;
  /** From the next start on. */
  script(script: FakeScript): void;
  /** Replaces the program by a shell script, for what only a shell can do to its pipes. */
  shell(commands: string): void;
  /** Brings the fake itself back. */
  unshell(): void;
  journal(): readonly JournalEntry[];
  remove(): Promise<void>;
}

/** A small catalogue of known shape. */
export const SCRIPT: FakeScript = {
  personas: [
    {
      slug: "chief-technology-officer",
      title: "Chief Technology Officer",
      status: "shipped",
      workflows: [
        {
          slug: "adr-quick-capture",
          cadence: "on-demand",
          inputs: ["decision_context"],
          outputs: ["adr"],
          skill_chain: ["decision-author", "decision-audit"],
        },
        {
          slug: "architect-new-system",
          cadence: "per-event",
          inputs: ["prd"],
          outputs: ["srs"],
          skill_chain: ["srs-author", "srs-audit", "plan-author"],
        },
      ],
    },
    {
      slug: "chief-product-officer",
      title: "Chief Product Officer (Product — Growth)",
      status: "shipped",
      workflows: [{
        slug: "product-roadmap",
        cadence: "per-task (loops over BACKLOG.md)",
        inputs: ["vision"],
        outputs: ["roadmap"],
        skill_chain: ["roadmap-author"],
      }],
    },
  ],
  routes: {
    "Architect a payment system": {
      persona: "chief-technology-officer",
      workflow: "architect-new-system",
      confidence: 0.66,
      alternates: ["chief-technology-officer/adr-quick-capture"],
    },
  },
};

/** Installs the fake in a folder of its own. */
export async function installFakeCuo(
  script: FakeScript = SCRIPT,
): Promise<FakeCuo> {
  const base = await Deno.realPath(
    await Deno.makeTempDir({ prefix: "fake-cuo-" }),
  );
  const root = `${base}/root`;
  const binDir = `${base}/bin`;
  await Deno.mkdir(root);
  await Deno.mkdir(binDir);
  const program = `${binDir}/cyberos-cuo`;
  const source = new URL("program.ts", import.meta.url).pathname;
  const shell = (commands: string) =>
    Deno.writeTextFileSync(program, `#!/bin/sh\n${commands}\n`, {
      mode: 0o755,
    });
  const unshell = () =>
    shell(
      `exec "${Deno.execPath()}" run --quiet --no-config --no-lock -A "${source}" "$@"`,
    );
  unshell();
  const fake: FakeCuo = {
    program,
    binDir,
    root,
    script: (next) =>
      Deno.writeTextFileSync(`${root}/fake.json`, JSON.stringify(next)),
    shell,
    unshell,
    journal: () => readJournal(`${root}/journal.ndjson`),
    remove: () => Deno.remove(base, { recursive: true }),
  };
  fake.script(script);
  return fake;
}

function readJournal(path: string): readonly JournalEntry[] {
  try {
    return Deno.readTextFileSync(path).trim().split("\n").filter(Boolean)
      .map((text) => JSON.parse(text));
  } catch {
    return [];
  }
}

/** Whether a process lives. A zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
}
