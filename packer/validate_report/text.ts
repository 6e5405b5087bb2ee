/** Findings for people. */
import type { Finding } from "../../schema/finding.ts";
import type { FileResult } from "./result.ts";
import { count, pathOf } from "./result.ts";

const RED = "31;1";
const YELLOW = "33;1";
const GREEN = "32";
const DIM = "2";

/**
 * One paragraph for each finding, with the line it is about, then a summary.
 *
 * @param color Whether the terminal shows colours.
 */
export function renderText(
  results: readonly FileResult[],
  color: boolean,
): string {
  const paint = (code: string, text: string): string =>
    color ? `\x1b[${code}m${text}\x1b[0m` : text;
  const parts = results.flatMap((result) => [
    ...result.findings.map((finding) => paragraph(result, finding, paint)),
    ...lastLines(result, paint),
  ]);
  return `${[...parts, ...summary(results)].join("\n")}\n`;
}

type Paint = (code: string, text: string) => string;

function paragraph(
  result: FileResult,
  finding: Finding,
  paint: Paint,
): string {
  const { severity, json_pointer, constraint, line, column } = finding;
  const place = `${printable(pathOf(result, finding))}:${line}:${column}`;
  const level = paint(severity === "error" ? RED : YELLOW, severity);
  const lines = [
    `${place} ${level} ${printable(json_pointer) || "/"} (${constraint})`,
    `  ${printable(finding.message)}`,
    ...excerpt(finding).map((text) => paint(DIM, text)),
    `  hint: ${printable(finding.hint)}`,
  ];
  return `${lines.join("\n")}\n`;
}

const WINDOW = 100;

/** The line, cut to a window around the column, and a mark under it. */
function excerpt({ line, column, excerpt }: Finding): string[] {
  if (excerpt.trim() === "") return [];
  const from = Math.max(0, Math.min(column - 1, excerpt.length) - WINDOW / 2);
  const cut = excerpt.slice(from, from + WINDOW).replaceAll("\t", " ");
  const before = printable(cut.slice(0, column - 1 - from));
  const shown = before + printable(cut.slice(column - 1 - from));
  const gutter = String(line);
  return [
    `  ${gutter} | ${shown}`,
    `  ${" ".repeat(gutter.length)} | ${" ".repeat(before.length)}^`,
  ];
}

function lastLines(result: FileResult, paint: Paint): string[] {
  const { errors } = count([result]);
  const name = printable(result.file);
  return [
    ...(result.truncated ? [`${name}: more findings are not shown`] : []),
    ...(result.note === undefined ? [] : [`${name}: ${result.note}`]),
    ...(errors === 0
      ? [`${name}: ${paint(GREEN, "valid")} (${result.contents ?? "empty"})`]
      : []),
  ];
}

function summary(results: readonly FileResult[]): string[] {
  const { errors, warnings } = count(results);
  if (errors + warnings === 0) return [];
  const files = results.length === 1 ? "" : ` in ${results.length} files`;
  return [
    `${plural(errors, "error")}, ${plural(warnings, "warning")}${files}`,
  ];
}

function plural(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** A stranger's text without anything that could steer a terminal. */
export function printable(text: string): string {
  return text.replace(
    // deno-lint-ignore no-control-regex
    /[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
