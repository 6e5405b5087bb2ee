/**
 * What the commands of `cyberos-cuo` print, read line by line.
 *
 * Source: PRODUCT "Upstream contracts", CUO driver 2. A line that has no meaning
 * here is passed over: the program may print more than it used to.
 */
import type { Persona, Workflow } from "../../types.ts";
import { ShapeError } from "../common/shape.ts";

const MAX_ROWS = 1_000;

/** What `list-personas` printed. */
export interface PersonaList {
  readonly personas: readonly Persona[];
  /** What its heading promises, where it has one. */
  readonly promised?: number;
}

const PERSONA_HEADING = /^#\s+(\d{1,6})\s+shipped\b/;
const PERSONA_LINE =
  /^\s{1,8}([a-z0-9][a-z0-9._-]*)\s+\[\s*([A-Za-z-]{1,32})\s*\]\s+(\d{1,6})\s+workflows?(?:\s+[—–-]+\s+(.*\S))?\s*$/;

/** @throws {ShapeError} Nothing in it is a list of personas. */
export function parsePersonas(lines: readonly string[]): PersonaList {
  const personas = new Map<string, Persona>();
  let promised: number | undefined;
  for (const line of lines) {
    const heading = PERSONA_HEADING.exec(line);
    if (heading !== null) promised = Number(heading[1]);
    const row = PERSONA_LINE.exec(line);
    if (row === null) continue;
    const slug = row[1]!;
    personas.set(slug, {
      slug,
      title: (row[4] ?? titleOf(slug)).slice(0, 256),
      status: row[2]!.toLowerCase(),
      workflowCount: Number(row[3]),
    });
  }
  if (promised === undefined && personas.size === 0) {
    throw new ShapeError("list-personas", "a list of personas");
  }
  checkSize(personas.size, "list-personas");
  return {
    personas: [...personas.values()],
    ...(promised === undefined ? {} : { promised }),
  };
}

const WORKFLOW_HEADING = /^#\s+[a-z0-9][a-z0-9._-]*:\s/;
const WORKFLOW_LINE =
  /^\s{1,8}([a-z0-9][a-z0-9._-]*)\s+cadence=(.{1,256}?)\s+chain=\s*(\d{1,5})\s+\[(.{1,128})\]\s*$/;

/**
 * The command tells neither inputs nor outputs nor the skills themselves, so
 * these lists are empty and the description says how long the chain is.
 *
 * @throws {ShapeError} Nothing in it is a list of workflows.
 */
export function parseWorkflows(lines: readonly string[]): readonly Workflow[] {
  const workflows = new Map<string, Workflow>();
  let headed = false;
  for (const line of lines) {
    headed ||= WORKFLOW_HEADING.test(line);
    const row = WORKFLOW_LINE.exec(line);
    if (row === null) continue;
    const valid = row[4]!.trim() === "valid";
    workflows.set(row[1]!, {
      slug: row[1]!,
      description: `A chain of ${Number(row[3])} skills${
        valid ? "" : `; not runnable now: ${row[4]!.trim()}`
      }`,
      cadence: row[2]!.trim(),
      inputs: [],
      outputs: [],
      skillChain: [],
    });
  }
  if (!headed && workflows.size === 0) {
    throw new ShapeError("list-workflows", "a list of workflows");
  }
  checkSize(workflows.size, "list-workflows");
  return [...workflows.values()];
}

/** What `route` printed for a match. */
export interface RouteOutput {
  readonly persona: string;
  readonly workflow: string;
  readonly confidence: number;
  readonly rationale?: string;
  /** `persona/workflow` pairs among the alternatives. */
  readonly pairs: readonly string[];
  /** Workflows among the alternatives that came without their persona. */
  readonly workflows: readonly string[];
}

const ROUTE_HEADING =
  /^#\s*route\(.*→\s*([a-z0-9][a-z0-9._-]*)\/([a-z0-9][a-z0-9._-]*)\s*$/;
const CONFIDENCE = /^\s+confidence:\s*(\d(?:\.\d{1,6})?)\s*$/;
const RATIONALE = /^\s+rationale:\s*(.*\S)\s*$/;
const SECTION = /^\s+alternat\w*(?:\s+(personas|workflows))?:\s*$/i;
const ALTERNATIVE =
  /^\s+(?:[-*•]\s+)?([a-z0-9][a-z0-9._-]*)(?:\/([a-z0-9][a-z0-9._-]*))?(?:\s+\(?\d.*)?$/;

/** @throws {ShapeError} It does not say where the request goes. */
export function parseRoute(lines: readonly string[]): RouteOutput {
  let target: { persona: string; workflow: string } | undefined;
  let confidence: number | undefined;
  let rationale: string | undefined;
  let section: string | undefined;
  const pairs: string[] = [];
  const workflows: string[] = [];
  for (const line of lines) {
    const heading = ROUTE_HEADING.exec(line);
    const opened = SECTION.exec(line);
    if (heading !== null) {
      target = { persona: heading[1]!, workflow: heading[2]! };
    } else if (opened !== null) section = opened[1]?.toLowerCase() ?? "pairs";
    else if (section === undefined) {
      const number = CONFIDENCE.exec(line);
      if (number !== null) confidence = Number(number[1]);
      rationale ??= RATIONALE.exec(line)?.[1]?.slice(0, 1024);
    } else {
      const row = ALTERNATIVE.exec(line);
      if (row?.[2] !== undefined) pairs.push(`${row[1]}/${row[2]}`);
      else if (row !== null && section === "workflows") {
        workflows.push(row[1]!);
      }
    }
  }
  if (target === undefined || confidence === undefined || confidence > 1) {
    throw new ShapeError("route", "a route with its confidence");
  }
  return {
    ...target,
    confidence,
    ...(rationale === undefined ? {} : { rationale }),
    pairs,
    workflows,
  };
}

/** Whether `route` says that nothing fits. The query, which it echoes, does not count. */
export function saysNoMatch(lines: readonly string[]): boolean {
  return lines.some((line) =>
    /^\s*(?:#\s*route\(.*→\s*)?NO_MATCH\b/.test(line)
  );
}

/** One line of `execute`. */
export type ExecuteLine =
  | { readonly kind: "outcome"; readonly outcome: string }
  | {
    readonly kind: "step";
    readonly step: number;
    readonly status: string;
    readonly skill: string;
    readonly durationMs: number;
  };

const OUTCOME = /^#\s*execute\b.*→\s*([A-Z][A-Z_]{0,31})\s*$/;
const STEP =
  /^\s*\S\s+step\s+(\d{1,5})\s+\[\s*([A-Z_]{1,32})\s*\]\s+([a-z0-9][a-z0-9._-]*)\s+(\d{1,12})\s*ms\s*$/;

/** The line's meaning, if it has one. */
export function parseExecuteLine(line: string): ExecuteLine | undefined {
  const outcome = OUTCOME.exec(line);
  if (outcome !== null) return { kind: "outcome", outcome: outcome[1]! };
  const step = STEP.exec(line);
  if (step === null) return undefined;
  return {
    kind: "step",
    step: Number(step[1]),
    status: step[2]!,
    skill: step[3]!,
    durationMs: Number(step[4]),
  };
}

function titleOf(slug: string): string {
  return slug.split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

function checkSize(size: number, place: string): void {
  if (size > MAX_ROWS) {
    throw new ShapeError(place, `a list of at most ${MAX_ROWS} rows`);
  }
}
