/** Findings in declared files. */
import { per } from "../clause.ts";
import { cutLine, MAX_FINDINGS, toFinding } from "../collector.ts";
import type { Finding, Severity } from "../finding.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { TextPosition } from "../strict_json/mod.ts";
import type { Frontmatter } from "./frontmatter.ts";

/** Of TASK-PLUGIN-001 §1: what a bundle is made of. */
const CLAUSE = 11;

/** One fault in a file. */
export interface FileFinding {
  readonly constraint: string;
  readonly message: string;
  readonly advice: string;
  readonly expected?: JsonValue;
  readonly actual?: JsonValue;
  readonly severity?: Severity;
}

/** Gathers the findings of one declared file. */
export class FileReport {
  readonly path: string;
  readonly #pointer: string;
  readonly #lines: readonly string[];
  readonly #findings: Finding[] = [];

  /** @param pointer Of the declaration in the manifest. */
  constructor(pointer: string, path: string, text: string) {
    this.path = path;
    this.#pointer = pointer;
    this.#lines = text.split(/\r\n|\n|\r/);
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  /** Adds a finding at a place in the file. */
  add(fault: FileFinding, { line, column }: TextPosition): void {
    if (this.#findings.length >= MAX_FINDINGS) return;
    const { advice, ...rest } = fault;
    this.#findings.push(toFinding({
      ...rest,
      json_pointer: this.#pointer,
      hint: per(CLAUSE, advice),
    }, {
      line,
      column,
      excerpt: cutLine(this.#lines[line - 1] ?? ""),
      file: this.path,
    }));
  }
}

/** A file with its frontmatter, under judgement. */
export interface Subject {
  readonly report: FileReport;
  readonly frontmatter: Frontmatter;
  /** The file's frontmatter as an object. */
  readonly fields: JsonObject;
}

/** Reports a fault at a member of the frontmatter. */
export function reportField(
  { report, frontmatter }: Subject,
  path: readonly (string | number)[],
  fault: FileFinding,
): void {
  report.add(fault, frontmatter.positionOf(path));
}
