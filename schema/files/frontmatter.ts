/** YAML frontmatter of Markdown files, read without trust. */
import type { Document, LineCounter, YAMLError } from "yaml";
import type { JsonObject, JsonValue } from "../json.ts";
import type { TextPosition } from "../strict_json/mod.ts";
import { readPlainFrontmatter } from "./plain_frontmatter.ts";

/** A fault of the frontmatter's text. */
export interface FrontmatterFault extends TextPosition {
  /** One sentence, without a full stop. */
  readonly message: string;
  /** What to do about it. */
  readonly advice: string;
}

/** A Markdown file, taken apart. */
export interface Frontmatter {
  /** Empty where the frontmatter could not be read. */
  readonly value: JsonObject;
  /** What follows the frontmatter. */
  readonly body: string;
  /** Why it could not be read. */
  readonly faults: readonly FrontmatterFault[];
  /** Where a member is, or the nearest one above it. */
  positionOf(path: readonly (string | number)[]): TextPosition;
}

const MAX_CHARACTERS = 16 * 1024;
const MAX_ALIASES = 10;
const MAX_NESTING = 16;
const MAX_FAULTS = 3;

/** Reads a file's frontmatter. Never throws: what cannot be read is a fault. */
export async function readFrontmatter(text: string): Promise<Frontmatter> {
  const match = /^---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/m
    .exec(text);
  if (match === null || match.index !== 0) {
    return unreadable(text, {
      line: 1,
      column: 1,
      message:
        "The file does not start with frontmatter between two '---' lines",
      advice: "Start the file with ---, then name: and description:, then ---",
    });
  }
  const source = match[1] as string;
  const body = text.slice(match[0].length);
  if (source.length > MAX_CHARACTERS || nesting(source) > MAX_NESTING) {
    return unreadable(body, {
      line: 1,
      column: 1,
      message:
        `The frontmatter is over ${MAX_CHARACTERS} characters or ${MAX_NESTING} levels`,
      advice: "Shorten it; content belongs below the second '---'",
    });
  }
  const plain = readPlainFrontmatter(source);
  return plain === undefined
    ? await parse(source, body)
    : { ...plain, body, faults: [] };
}

function unreadable(body: string, fault: FrontmatterFault): Frontmatter {
  return {
    value: {},
    body,
    faults: [fault],
    positionOf: () => ({ line: 1, column: 1 }),
  };
}

/** How deep brackets and dashes go, at most: each level costs the parser its stack. */
function nesting(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [mark] of source.matchAll(/[[\]{}]/g)) {
    depth += mark === "[" || mark === "{" ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  for (const [start] of source.matchAll(/(?:[-?] +){2,}/g)) {
    deepest = Math.max(deepest, start.replaceAll(" ", "").length);
  }
  return deepest;
}

async function parse(source: string, body: string): Promise<Frontmatter> {
  const yaml = await import("yaml");
  const { default: process } = await import("node:process");
  const lines = new yaml.LineCounter();
  const document = quietly(process, () =>
    yaml.parseDocument(source, {
      version: "1.2",
      schema: "core",
      strict: true,
      uniqueKeys: true,
      stringKeys: true,
      resolveKnownTags: false,
      prettyErrors: false,
      lineCounter: lines,
    }));
  const problems = [...document.errors, ...document.warnings];
  const faults = problems.slice(0, MAX_FAULTS)
    .map((problem) => describe(problem, source, lines));
  return {
    ...readValue(document, faults),
    body,
    positionOf: (path) => positionOf(document, lines, path),
  };
}

/**
 * The parser asks the environment for debugging switches; validating runs
 * without the right to read it.
 */
function quietly<Result>(
  process: { env: Record<string, string | undefined> },
  work: () => Result,
): Result {
  const { env } = process;
  process.env = {};
  try {
    return work();
  } finally {
    process.env = env;
  }
}

function readValue(
  document: Document,
  faults: readonly FrontmatterFault[],
): Pick<Frontmatter, "value" | "faults"> {
  if (faults.length > 0) return { value: {}, faults };
  const refusal = (message: string, advice: string) => ({
    value: {},
    faults: [{ line: 2, column: 1, message, advice }],
  });
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? { value: value as Record<string, JsonValue>, faults }
      : refusal(
        "The frontmatter is no list of keys and values",
        "Write lines such as name: and description:",
      );
  } catch {
    return refusal(
      `The frontmatter has more than ${MAX_ALIASES} aliases, or one that leads nowhere`,
      "Write the values out instead of using & and *",
    );
  }
}

function describe(
  problem: YAMLError,
  source: string,
  lines: LineCounter,
): FrontmatterFault {
  const { line, col } = lines.linePos(problem.pos[0]);
  const text = source.split("\n")[line - 1] ?? "";
  return {
    line: line + 1,
    column: col,
    message: `The frontmatter is no valid YAML: ${
      problem.message.split("\n")[0]?.replace(/\.$/, "").slice(0, 200) ?? ""
    }`,
    advice: quotedForm(text) ?? "Correct the line by YAML 1.2",
  };
}

/** An unquoted value with `: ` or ` #` in it: hosts then lose every field, restrictions included. */
function quotedForm(line: string): string | undefined {
  const match = /^([\w-]+):[ ]+([^"'\s].*)$/.exec(line.trim());
  if (match === null || !/: | #|:$|^[@`%&*!|>[{]/.test(match[2] as string)) {
    return undefined;
  }
  return `Write it in double quotes: ${match[1]}: ${
    JSON.stringify((match[2] as string).slice(0, 120))
  }`;
}

function positionOf(
  document: Document,
  lines: LineCounter,
  path: readonly (string | number)[],
): TextPosition {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    const start = (node as { range?: readonly number[] } | undefined)
      ?.range?.[0];
    if (start === undefined) continue;
    const { line, col } = lines.linePos(start);
    return { line: line + 1, column: col };
  }
  return { line: 1, column: 1 };
}
