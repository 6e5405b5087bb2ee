/** Rules that commands and skills share. Source: PRODUCT decisions, "The bundle". */
import { showValue, typeInWords } from "../finding.ts";
import type { JsonValue } from "../json.ts";
import { nearest } from "../nearest.ts";
import type { Subject } from "./report.ts";
import { reportField } from "./report.ts";

const MIN_DESCRIPTION = 60;
const MAX_DESCRIPTION = 480;

/** The text at a member, reported where it is none. */
export function requireText(
  subject: Subject,
  path: readonly (string | number)[],
  value: JsonValue | undefined,
  advice: string,
): string | undefined {
  if (typeof value === "string" && value.trim() !== "") return value;
  const name = nameOf(path);
  reportField(subject, path, {
    constraint: value === undefined ? "required" : "type",
    expected: "string",
    ...(value === undefined ? {} : { actual: showValue(value) }),
    message: value === undefined
      ? `The frontmatter lacks '${name}'`
      : `'${name}' must be a text, not ${
        value === "" ? "an empty one" : typeInWords(value)
      }`,
    advice,
  });
  return undefined;
}

/** The name is the one that the file's place gives it. */
export function checkName(subject: Subject, expected: string): void {
  const advice = `Write name: "${expected}"`;
  const name = requireText(subject, ["name"], subject.fields.name, advice);
  if (name === undefined || name === expected) return;
  reportField(subject, ["name"], {
    constraint: "name",
    expected,
    actual: name.slice(0, 100),
    message: `The name '${name.slice(0, 100)}' is not '${expected}'`,
    advice: `${advice}; hosts find it by the place of its file`,
  });
}

/** 60 to 480 characters without tags. */
export function checkDescription(subject: Subject): string | undefined {
  const text = requireText(
    subject,
    ["description"],
    subject.fields.description,
    "Say in 60 to 480 characters what it does and when to use it",
  );
  if (text === undefined) return undefined;
  const length = [...text].length;
  if (length < MIN_DESCRIPTION || length > MAX_DESCRIPTION) {
    reportField(subject, ["description"], {
      constraint: length < MIN_DESCRIPTION ? "minLength" : "maxLength",
      expected: length < MIN_DESCRIPTION ? MIN_DESCRIPTION : MAX_DESCRIPTION,
      actual: length,
      message:
        `The description has ${length} characters, where ${MIN_DESCRIPTION} to ${MAX_DESCRIPTION} are right`,
      advice: "Say what it does and when to use it (TASK-SKILL-111)",
    });
  }
  const tag = /<\/?[A-Za-z][^<>]{0,100}>/.exec(text)?.[0];
  if (tag !== undefined) {
    reportField(subject, ["description"], {
      constraint: "no_tags",
      actual: tag,
      message: `The description has a tag, '${tag}'`,
      advice: "Remove it: descriptions become part of a model's instructions",
    });
  }
  return text;
}

/** Fields that nothing reads are slips of the pen. */
export function checkKnownFields(
  subject: Subject,
  known: readonly string[],
): void {
  for (const key of Object.keys(subject.fields).slice(0, 50)) {
    if (known.includes(key)) continue;
    const meant = nearest(key, known);
    reportField(subject, [key], {
      constraint: "unknown_member",
      expected: [...known],
      message: `Unknown field '${key.slice(0, 100)}'${
        meant === undefined ? "" : `; did you mean '${meant}'?`
      }`,
      advice: "Remove it; hosts ignore it or refuse the file",
      severity: "warning",
    });
  }
}

/** The body has these headings. */
export function checkHeadings(
  { report, frontmatter }: Subject,
  headings: readonly string[],
): void {
  const found = new Set(
    [...frontmatter.body.matchAll(/^#{1,6} +(.+?)(?: +#*)?\r?$/gm)]
      .map(([, title]) => (title as string).toLowerCase()),
  );
  const missing = headings.filter((title) => !found.has(title.toLowerCase()));
  if (missing.length === 0) return;
  report.add({
    constraint: "headings",
    expected: missing,
    message: `The body lacks the heading '${missing.join("', '")}'`,
    advice: `Add ${missing.map((title) => `"## ${title}"`).join(", ")}`,
    severity: "warning",
  }, { line: 1, column: 1 });
}

/** `["binds_to", 0, "tool"]` → `binds_to[0].tool`. */
function nameOf(path: readonly (string | number)[]): string {
  return path.reduce<string>(
    (name, step) =>
      typeof step === "number"
        ? `${name}[${step}]`
        : name === ""
        ? step
        : `${name}.${step}`,
    "",
  );
}
