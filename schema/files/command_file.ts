/** Rules of `commands/<name>.md`. Source: PRODUCT decisions, "The bundle". */
import type { JsonObject, JsonValue } from "../json.ts";
import { nearest } from "../nearest.ts";
import {
  checkDescription,
  checkHeadings,
  checkKnownFields,
  checkName,
  requireText,
} from "./fields.ts";
import type { Subject } from "./report.ts";
import { reportField } from "./report.ts";

/** What a command may bind to. */
export interface BindableTool {
  readonly name: string;
  readonly inputSchema: JsonObject;
  readonly destructive: boolean;
}

const FIELDS = [
  "name",
  "description",
  "binds_to",
  "arguments",
  "triggers",
  "destructive",
  // Hosts' own:
  "allowed-tools",
  "argument-hint",
  "disable-model-invocation",
  "model",
];

const HEADINGS = ["When to use", "Required scopes", "Side effects", "Example"];

const TRIGGERS = 4;

/** Judges a command's frontmatter and body. */
export function checkCommandFile(
  subject: Subject,
  name: string,
  manifest: {
    readonly tools: readonly BindableTool[];
    readonly targets: ReadonlySet<string>;
  },
): void {
  checkName(subject, name);
  checkDescription(subject);
  const bound = checkBindings(subject, manifest.tools);
  checkArguments(subject, bound);
  checkTriggers(subject);
  checkDestructive(subject, bound);
  checkKnownFields(subject, FIELDS);
  checkHeadings(subject, HEADINGS);
  if (manifest.targets.has("codex-cli")) checkCodexBody(subject);
}

function checkBindings(
  subject: Subject,
  tools: readonly BindableTool[],
): BindableTool[] {
  const bindings = subject.fields.binds_to;
  if (!Array.isArray(bindings) || bindings.length === 0) {
    reportField(subject, ["binds_to"], {
      constraint: "binds_to",
      message: "'binds_to' must list at least one tool",
      advice: "Write binds_to: with - tool: and when: for each tool it calls",
    });
    return [];
  }
  return bindings.flatMap((binding: JsonValue, index) => {
    const { tool, when } = asObject(binding);
    const path = ["binds_to", index] as const;
    requireText(subject, [...path, "when"], when, "Say when it calls the tool");
    const name = requireText(subject, [...path, "tool"], tool, "Name the tool");
    if (name === undefined) return [];
    const found = tools.find((candidate) => candidate.name === name);
    if (found !== undefined) return [found];
    const meant = nearest(name, tools.map((candidate) => candidate.name));
    reportField(subject, [...path, "tool"], {
      constraint: "declared_tool",
      actual: name.slice(0, 100),
      message: `The manifest declares no tool '${name.slice(0, 100)}'${
        meant === undefined ? "" : `; did you mean '${meant}'?`
      }`,
      advice: "Name a tool of the manifest's tools",
    });
    return [];
  });
}

/** Arguments are a subset, by name and type, of what the bound tools take. */
function checkArguments(
  subject: Subject,
  bound: readonly BindableTool[],
): void {
  const list = subject.fields.arguments;
  if (list === undefined || list === null) return;
  if (!Array.isArray(list)) {
    reportField(subject, ["arguments"], {
      constraint: "type",
      expected: "array",
      message: "'arguments' must be a list",
      advice: "Write - name: and type: for each argument, or arguments: []",
    });
    return;
  }
  const seen = new Set<string>();
  list.forEach((item: JsonValue, index) => {
    const path = ["arguments", index] as const;
    const { name, type } = asObject(item);
    const text = requireText(subject, [...path, "name"], name, "Name it");
    if (text === undefined || bound.length === 0) return;
    if (seen.has(text)) {
      reportField(subject, [...path, "name"], {
        constraint: "unique_name",
        actual: text.slice(0, 100),
        message: `The argument '${text.slice(0, 100)}' is listed twice`,
        advice: "Keep one of the two",
      });
    }
    seen.add(text);
    checkArgument(subject, path, { name: text, type }, bound);
  });
}

function checkArgument(
  subject: Subject,
  path: readonly ["arguments", number],
  argument: { readonly name: string; readonly type: JsonValue | undefined },
  bound: readonly BindableTool[],
): void {
  const { name, type } = argument;
  const inputs = bound.map((tool) => asObject(tool.inputSchema.properties));
  const properties = inputs.flatMap((input) =>
    Object.hasOwn(input, name) ? [asObject(input[name])] : []
  );
  if (properties.length === 0) {
    // A tool that is not known may take it.
    const { binds_to } = subject.fields;
    if (Array.isArray(binds_to) && binds_to.length > bound.length) return;
    const known = inputs.flatMap((input) => Object.keys(input));
    const meant = nearest(name, known);
    reportField(subject, [...path, "name"], {
      constraint: "argument_subset",
      expected: [...new Set(known)],
      actual: name.slice(0, 100),
      message: `No bound tool takes an argument '${name.slice(0, 100)}'${
        meant === undefined ? "" : `; did you mean '${meant}'?`
      }`,
      advice: "Use the names of the bound tools' input schemas",
    });
    return;
  }
  const types = properties.flatMap((property) => property.type ?? []);
  if (types.length === 0 || types.includes(type ?? null)) return;
  reportField(subject, [...path, "type"], {
    constraint: "argument_type",
    expected: types as JsonValue[],
    ...(type === undefined ? {} : { actual: type }),
    message: `The argument '${name.slice(0, 100)}' has the type '${
      String(type).slice(0, 40)
    }', where the tool takes ${[...new Set(types)].join(" or ")}`,
    advice: `Write type: "${String(types[0])}"`,
  });
}

function checkTriggers(subject: Subject): void {
  const { triggers } = subject.fields;
  const texts = Array.isArray(triggers)
    ? triggers.filter((item) => typeof item === "string" && item.trim() !== "")
    : [];
  const different = new Set(texts).size;
  if (
    different === TRIGGERS && Array.isArray(triggers) &&
    triggers.length === TRIGGERS
  ) return;
  reportField(subject, ["triggers"], {
    constraint: "triggers",
    expected: TRIGGERS,
    actual: different,
    message:
      `'triggers' must be exactly ${TRIGGERS} different phrases, but has ${
        Array.isArray(triggers) ? triggers.length : 0
      }`,
    advice: "List four things that a person would say",
  });
}

function checkDestructive(
  subject: Subject,
  bound: readonly BindableTool[],
): void {
  const { destructive } = subject.fields;
  if (typeof destructive !== "boolean") {
    reportField(subject, ["destructive"], {
      constraint: destructive === undefined ? "required" : "type",
      expected: "boolean",
      message: "'destructive' must be true or false",
      advice: "Write destructive: true where a bound tool is, else false",
    });
    return;
  }
  const tool = bound.find((candidate) => candidate.destructive);
  if (tool === undefined || destructive) return;
  reportField(subject, ["destructive"], {
    constraint: "destructive",
    expected: true,
    actual: false,
    message: `The command calls '${tool.name}', which is destructive`,
    advice: "Write destructive: true, so that hosts ask the person first",
  });
}

/** Codex makes skills of commands, and drops those whose body it cannot fill in. */
function checkCodexBody({ report, frontmatter }: Subject): void {
  const marks = /\$ARGUMENTS|\$\d|\{\{|(?:^|\s)@[\w./-]+/.exec(frontmatter.body)
    ?.[0];
  if (marks === undefined) return;
  report.add({
    constraint: "host_form",
    actual: marks.trim(),
    message: `Codex CLI drops a command with '${marks.trim()}' in its body`,
    advice: "Say in words where the person's text goes",
    severity: "warning",
  }, { line: 1, column: 1 });
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as JsonObject
    : {};
}
