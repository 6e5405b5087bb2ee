/** Findings for programs: the specification's JSON, and what CI systems read. */
import type { Finding } from "../../schema/finding.ts";
import { toSpecError } from "../../schema/finding.ts";
import { VERSION } from "../../schema/version.ts";
import { displayJson } from "../display.ts";
import type { FileResult } from "./result.ts";
import { pathOf } from "./result.ts";
import { printable } from "./text.ts";

/**
 * `{"errors": […]}` in the shape of TASK-PLUGIN-001 §8, with `warnings` beside
 * it where there are some. Several files: `{"files": [{"file", "errors"}, …]}`.
 */
export function renderJson(results: readonly FileResult[]): string {
  const [first] = results;
  const value = results.length === 1 && first !== undefined
    ? specErrors(first)
    : {
      files: results.map((result) => ({
        file: result.file,
        ...specErrors(result),
      })),
    };
  return displayJson(value);
}

function specErrors({ findings }: FileResult): Record<string, unknown> {
  const of = (severity: Finding["severity"]) =>
    findings.filter((finding) => finding.severity === severity)
      .map(toSpecError);
  const warnings = of("warning");
  return {
    errors: of("error"),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** Workflow commands that GitHub shows as annotations of the changed lines. */
export function renderGithub(results: readonly FileResult[]): string {
  return results.flatMap((result) =>
    result.findings.map((finding) => {
      const properties = [
        `file=${property(pathOf(result, finding))}`,
        `line=${finding.line}`,
        `col=${finding.column}`,
        `title=${
          property(`${finding.json_pointer || "/"} (${finding.constraint})`)
        }`,
      ];
      const text = `${finding.message}\n${finding.hint}`;
      return `::${finding.severity} ${properties.join(",")}::${escape(text)}\n`;
    })
  ).join("");
}

function escape(text: string): string {
  return printable(
    text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A"),
  );
}

function property(text: string): string {
  return escape(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** A SARIF 2.1.0 log, as code scanning takes it. */
export function renderSarif(results: readonly FileResult[]): string {
  const found = results.flatMap((result) =>
    result.findings.map((finding) => ({ result, finding }))
  );
  const rules = [...new Set(found.map(({ finding }) => finding.constraint))];
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      columnKind: "utf16CodeUnits",
      tool: {
        driver: {
          name: "cyberos-plugin",
          version: VERSION,
          rules: rules.map((id) => ({ id })),
        },
      },
      results: found.map(({ result, finding }) =>
        sarifResult(result, finding, rules)
      ),
    }],
  };
  return displayJson(log);
}

function sarifResult(
  result: FileResult,
  finding: Finding,
  rules: readonly string[],
): Record<string, unknown> {
  return {
    ruleId: finding.constraint,
    ruleIndex: rules.indexOf(finding.constraint),
    level: finding.severity,
    message: { text: `${finding.message}. ${finding.hint}` },
    locations: [{
      physicalLocation: {
        artifactLocation: { uri: toUri(pathOf(result, finding)) },
        region: {
          startLine: finding.line,
          startColumn: finding.column,
          snippet: { text: finding.excerpt },
        },
      },
      logicalLocations: [{ fullyQualifiedName: finding.json_pointer }],
    }],
  };
}

function toUri(path: string): string {
  return path.replaceAll("\\", "/").split("/").map(encodeURIComponent)
    .join("/");
}
