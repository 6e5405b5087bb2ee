/** CUO over the commands that CyberOS ships today. */
import type { JsonObject } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import type { Logger } from "../../ports.ts";
import type { Persona, Route, Workflow } from "../../types.ts";
import { delay } from "../common/deadline.ts";
import { readShape } from "../common/shape.ts";
import { Slots } from "../common/slots.ts";
import { type CommandEnd, runCommand } from "./cli_command.ts";
import { inputArguments } from "./cli_inputs.ts";
import {
  type ExecuteLine,
  parseExecuteLine,
  parsePersonas,
  parseRoute,
  parseWorkflows,
  type RouteOutput,
  saysNoMatch,
} from "./cli_output.ts";
import {
  type CuoDriver,
  CuoRefusal,
  type DriverCall,
  type DriverRun,
  type WorkflowRun,
} from "./driver.ts";
import type { Launcher } from "./launcher.ts";
import { NO_MATCH } from "./results.ts";
import { RunFolder } from "./run_folder.ts";

/** What {@link createCliDriver} needs. */
export interface CliDriverOptions {
  readonly launcher: Launcher;
  readonly log: Logger;
  /** Where folders of runs are made. */
  readonly workDir?: string;
  /** More of each workflow than the command tells, from the files of a checkout. */
  readonly enrich?: (
    persona: string,
    workflows: readonly Workflow[],
  ) => Promise<readonly Workflow[]>;
}

const CUO = "CUO";
const MAX_SHORT_CALLS = 4;
const MAX_WAITING = 64;
const WATCH_MS = 500;
const SLUGS_FRESH_MS = 300_000;
const MAX_REMEMBERED = 1_000;
const COMPLETED: ReadonlySet<string> = new Set([
  "COMPLETED",
  "COMPLETED_BATCH",
]);

/** Creates the driver; nothing is started before the first call. */
export function createCliDriver(options: CliDriverOptions): CuoDriver {
  return new CliDriver(options);
}

class CliDriver implements CuoDriver {
  readonly protocol = "cli";
  readonly #options: CliDriverOptions;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #slugs = new Map<
    string,
    { readonly at: number; readonly slugs: ReadonlySet<string> }
  >();
  readonly #slots = new Slots(CUO, MAX_SHORT_CALLS, MAX_WAITING);

  constructor(options: CliDriverOptions) {
    this.#options = options;
  }

  async listPersonas(call: DriverCall): Promise<readonly Persona[]> {
    const end = await this.#short(["list-personas"], call);
    if (end.code !== 0) throw failed("list-personas", end);
    const { personas, promised } = readShape(
      CUO,
      () => parsePersonas(end.lines),
    );
    const shipped = personas.filter((p) => p.status === "shipped").length;
    if (promised !== undefined && promised !== shipped) {
      this.#options.log.warn("cuo listed another number of personas", {
        promised,
        read: shipped,
      });
    }
    return personas;
  }

  async listWorkflows(
    persona: string,
    call: DriverCall,
  ): Promise<readonly Workflow[]> {
    const end = await this.#short(["list-workflows", persona], call);
    if (end.code !== 0) throw failed("list-workflows", end);
    const workflows = readShape(CUO, () => parseWorkflows(end.lines));
    return await this.#options.enrich?.(persona, workflows) ?? workflows;
  }

  async route(query: string, call: DriverCall): Promise<Route> {
    const end = await this.#short(["route", queryArgument(query)], call);
    if (saysNoMatch(end.lines)) return NO_MATCH;
    if (end.code !== 0) throw failed("route", end);
    const output = readShape(CUO, () => parseRoute(end.lines));
    return {
      persona: output.persona,
      workflow: output.workflow,
      confidence: output.confidence,
      alternates: await this.#alternates(output, call),
      ...(output.rationale === undefined
        ? {}
        : { rationale: output.rationale }),
    };
  }

  async execute(run: WorkflowRun, call: DriverRun): Promise<JsonObject> {
    const inputs = inputArguments(run.inputs);
    const folder = await RunFolder.create(this.#options.workDir);
    try {
      return await this.#track(this.#executeIn(folder, run, inputs, call));
    } finally {
      await folder.remove();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(
      new BridgeError("SHUTTING_DOWN", "The bridge is shutting down"),
    );
    await Promise.allSettled(this.#running);
  }

  async #executeIn(
    folder: RunFolder,
    run: WorkflowRun,
    inputs: readonly string[],
    call: DriverRun,
  ): Promise<JsonObject> {
    const outcome = new Outcome(call);
    const ended = new AbortController();
    const watching = watch(folder, outcome, ended.signal);
    try {
      const end = await runCommand(this.#options.launcher, {
        args: [
          "execute",
          `${run.persona}/${run.workflow}`,
          "--output-dir",
          folder.path,
          ...inputs,
        ],
        signal: AbortSignal.any([call.signal, this.#closing.signal]),
        logFields: {
          trace_id: call.span.context.traceId,
          task_id: call.taskId,
        },
        onLine: (text) => outcome.take(parseExecuteLine(text)),
      });
      call.span.set({ "process.exit.code": end.code });
      return await outcome.result(end, folder);
    } finally {
      ended.abort();
      await watching;
    }
  }

  /** Few at a time: each is a process, and an interpreter's start costs a core for a while. */
  async #short(args: readonly string[], call: DriverCall): Promise<CommandEnd> {
    const signal = AbortSignal.any([call.signal, this.#closing.signal]);
    return await this.#slots.run(signal, async () => {
      const end = await this.#track(runCommand(this.#options.launcher, {
        args,
        signal,
        logFields: { trace_id: call.span.context.traceId },
      }));
      call.span.set({ "process.exit.code": end.code });
      return end;
    });
  }

  /** Alternatives as pairs. A workflow without its persona counts where the chosen persona has it. */
  async #alternates(
    output: RouteOutput,
    call: DriverCall,
  ): Promise<readonly string[]> {
    if (output.workflows.length === 0) return output.pairs;
    const slugs = await this.#slugsOf(output.persona, call);
    return [
      ...output.pairs,
      ...output.workflows.filter((slug) => slugs.has(slug))
        .map((slug) => `${output.persona}/${slug}`),
    ];
  }

  /** Remembered for a while: a route must not cost two processes each time. */
  async #slugsOf(
    persona: string,
    call: DriverCall,
  ): Promise<ReadonlySet<string>> {
    const known = this.#slugs.get(persona);
    if (known !== undefined && performance.now() - known.at < SLUGS_FRESH_MS) {
      return known.slugs;
    }
    try {
      const workflows = await this.listWorkflows(persona, call);
      const slugs = new Set(workflows.map(({ slug }) => slug));
      if (this.#slugs.size >= MAX_REMEMBERED) this.#slugs.clear();
      this.#slugs.set(persona, { at: performance.now(), slugs });
      return slugs;
    } catch {
      return new Set();
    }
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }
}

/** What a run has told so far, by its lines and by its files. */
class Outcome {
  readonly #call: DriverRun;
  readonly #steps = new Map<number, Extract<ExecuteLine, { kind: "step" }>>();
  #outcome: string | undefined;
  #reported = 0;

  constructor(call: DriverRun) {
    this.#call = call;
  }

  take(line: ExecuteLine | undefined): void {
    if (line?.kind === "outcome") this.#outcome = line.outcome;
    if (line?.kind !== "step") return;
    this.#steps.set(line.step, line);
    this.report(line.step, line.skill);
  }

  /** Reports a step once, by whichever way it is seen first. */
  report(step: number, skill: string): void {
    if (step <= this.#reported) return;
    this.#reported = step;
    this.#call.onProgress({
      step,
      ...(skill === "" ? {} : { message: skill }),
    });
  }

  async result(end: CommandEnd, folder: RunFolder): Promise<JsonObject> {
    const outcome = this.#outcome;
    if (end.code !== 0 || outcome === undefined || !COMPLETED.has(outcome)) {
      throw this.#failure(end);
    }
    const steps = [...this.#steps.values()].sort((a, b) => a.step - b.step);
    const artifacts = await folder.artifacts();
    return {
      steps_executed: Math.max(steps.length, artifacts.length),
      final_artifacts: artifacts,
      steps: steps.map(({ step, skill, status, durationMs }) => ({
        step,
        skill,
        status,
        duration_ms: durationMs,
      })),
      outcome,
    };
  }

  #failure(end: CommandEnd): Error {
    if (this.#outcome === undefined) return failed("execute", end);
    // Nothing was run: names or inputs are what CUO does not know.
    if (this.#steps.size === 0) {
      return new CuoRefusal("invalid", this.#outcome, this.#ended());
    }
    return this.#ended();
  }

  #ended(): BridgeError {
    const broken = [...this.#steps.values()]
      .find((step) => step.status === "FAILED");
    const where = broken === undefined
      ? ""
      : ` at step ${broken.step} (${broken.skill})`;
    return new BridgeError(
      "UPSTREAM_UNAVAILABLE",
      `The workflow ended as ${this.#outcome}${where}`,
      {
        retryable: false,
        hint:
          "Check the inputs with cyberos.cuo.list_workflows and run it again. The operator finds CUO's own messages in the bridge's log.",
        data: { steps_executed: this.#steps.size },
      },
    );
  }
}

/** The command prints its steps only at the end; their files show when they happen. */
async function watch(
  folder: RunFolder,
  outcome: Outcome,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (;;) {
      await delay(WATCH_MS, signal);
      const last = (await folder.steps()).at(-1);
      if (last !== undefined) outcome.report(last.step, last.skill);
    }
  } catch {
    // The run has ended.
  }
}

/** One line, and never something that looks like a flag. */
function queryArgument(query: string): string {
  const line = query.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.startsWith("-") ? ` ${line}` : line;
}

// Click and argparse end with 1 or 2 when they refuse; anything else is a crash.
function failed(command: string, end: CommandEnd): Error {
  const detail = `${command} ended with code ${end.code}`;
  if (end.code <= 2) return new CuoRefusal("failed", detail);
  return new BridgeError("UPSTREAM_UNAVAILABLE", "CUO has crashed", {
    cause: new Error(detail),
    hint:
      "Call again. If it stays so, the operator must look at cyberos-cuo's messages in the bridge's log.",
  });
}
