/** Checks of the files that a manifest declares. */
import type { Fault } from "../collector.ts";
import { MAX_FINDINGS, placeAt, toFinding } from "../collector.ts";
import { per } from "../clause.ts";
import type { Finding } from "../finding.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { JsonDocument } from "../strict_json/mod.ts";
import { decodeUtf8, MANIFEST_LIMITS } from "../strict_json/mod.ts";
import type { Part } from "../v1/parts.ts";
import { objectOf, objectsIn, textOf, textsIn } from "../v1/parts.ts";
import type { BindableTool } from "./command_file.ts";
import { checkCommandFile } from "./command_file.ts";
import type { FileFault } from "./find.ts";
import { findFile } from "./find.ts";
import { readFrontmatter } from "./frontmatter.ts";
import type { DeclaredFiles } from "./port.ts";
import { FileReport } from "./report.ts";
import { checkSkillFile, hasTriggerTests } from "./skill_file.ts";

const MAX_FILE_BYTES = 256 * 1024;

const COMMAND = /^commands\/([a-z0-9-]+)\.md$/;
const SKILL = /^skills\/([a-z0-9-]+)\/SKILL\.md$/;

/**
 * Checks that every declared command and skill file exists in exactly that
 * spelling, and that its frontmatter keeps the rules.
 *
 * @param document The manifest, as `validateManifest` read it. Declarations that
 * break the manifest's schema are left out: that is said already.
 * @returns Findings in the order of the declarations. The pointer leads to the
 * declaration; the place, where `file` is given, is in the declared file.
 */
export async function validateDeclaredFiles(
  document: JsonDocument,
  files: DeclaredFiles,
): Promise<readonly Finding[]> {
  const context: Context = {
    document,
    files,
    manifest: objectOf(document.value),
    findings: [],
  };
  for (const command of objectsIn(context.manifest.commands, "/commands")) {
    await checkCommand(command, context);
  }
  for (const skill of objectsIn(context.manifest.skills, "/skills")) {
    await checkSkill(skill, context);
  }
  return context.findings.slice(0, MAX_FINDINGS);
}

interface Context {
  readonly document: JsonDocument;
  readonly files: DeclaredFiles;
  readonly manifest: JsonObject;
  readonly findings: Finding[];
}

async function checkCommand(
  { value, json_pointer }: Part<JsonObject>,
  context: Context,
): Promise<void> {
  const path = textOf(value, "file") ?? "";
  const name = COMMAND.exec(path)?.[1];
  if (name === undefined) return;
  const declared = textOf(value, "name");
  if (declared !== undefined && declared !== `/${name}`) {
    report(context, {
      json_pointer: `${json_pointer}/name`,
      constraint: "name",
      expected: `/${name}`,
      actual: declared,
      message: `The command '${
        declared.slice(0, 80)
      }' is in the file of '/${name}'`,
      hint: per(
        11,
        "Give command and file one name; hosts take it from the file",
      ),
    });
  }
  const text = await readText(context, `${json_pointer}/file`, path);
  if (text === undefined) return;
  await judge(
    context,
    `${json_pointer}/file`,
    path,
    text,
    (subject) =>
      checkCommandFile(subject, name, {
        tools: bindableTools(context.manifest),
        targets: new Set(
          textsIn(context.manifest.targets, "").map((target) => target.value),
        ),
      }),
  );
}

async function checkSkill(
  { value, json_pointer }: Part<JsonObject>,
  context: Context,
): Promise<void> {
  const path = textOf(value, "path") ?? "";
  const folder = SKILL.exec(path)?.[1];
  if (folder === undefined) return;
  const id = textOf(value, "id");
  if (id !== undefined && id !== folder) {
    report(context, {
      json_pointer: `${json_pointer}/id`,
      constraint: "name",
      expected: folder,
      actual: id,
      message: `The skill '${id.slice(0, 80)}' is in the folder '${folder}'`,
      hint: per(11, "Give skill and folder one name; hosts take the folder's"),
    });
  }
  const pointer = `${json_pointer}/path`;
  const text = await readText(context, pointer, path);
  if (text === undefined) return;
  await judge(
    context,
    pointer,
    path,
    text,
    (subject) => checkSkillFile(subject, folder),
  );
  await checkTriggerTests(context, pointer, `skills/${folder}`);
}

async function checkTriggerTests(
  context: Context,
  json_pointer: string,
  folder: string,
): Promise<void> {
  const path = `${folder}/acceptance/TRIGGER_TESTS.md`;
  const text = await tryRead(context.files, path);
  if (typeof text === "string" && hasTriggerTests(text)) return;
  report(context, {
    json_pointer,
    constraint: "trigger_tests",
    expected: path,
    message: typeof text === "string"
      ? `'${path}' must have two lists of at least four phrases`
      : `The skill has no '${path}'`,
    hint: per(
      11,
      "List four phrases that should trigger the skill and four that should not, under a heading each (TASK-PLUGIN-004)",
    ),
    severity: "warning",
  });
}

/** The file's text, or `undefined` with a finding that says why not. */
async function readText(
  context: Context,
  json_pointer: string,
  path: string,
): Promise<string | undefined> {
  const problem = await tryRead(context.files, path);
  if (typeof problem === "string") return problem;
  const { advice, ...fault } = problem;
  report(context, {
    ...fault,
    json_pointer,
    actual: path,
    hint: per(11, advice),
  });
  return undefined;
}

async function tryRead(
  files: DeclaredFiles,
  path: string,
): Promise<string | FileFault> {
  let bytes: Uint8Array;
  try {
    const missing = await findFile(files, path);
    if (missing !== undefined) return missing;
    bytes = await files.read(path, MAX_FILE_BYTES);
  } catch {
    return {
      constraint: "file_readable",
      message: `The file '${path}' cannot be read`,
      advice: "Give the file read permission",
    };
  }
  const limits = { ...MANIFEST_LIMITS, maxBytes: MAX_FILE_BYTES };
  const { text, fault } = decodeUtf8(bytes, limits);
  if (text !== undefined && !text.startsWith("\ufeff")) return text;
  return {
    constraint: fault?.constraint ?? "byte_order_mark",
    message: fault === undefined
      ? `'${path}' starts with a byte order mark`
      : `'${path}': ${fault.message}`,
    advice: fault?.constraint === "max_bytes"
      ? "Shorten the file"
      : "Save the file as UTF-8 without a byte order mark",
  };
}

async function judge(
  context: Context,
  pointer: string,
  path: string,
  text: string,
  rules: (subject: Parameters<typeof checkSkillFile>[0]) => void,
): Promise<void> {
  const file = new FileReport(pointer, path, text);
  const frontmatter = await readFrontmatter(text);
  for (const { line, column, ...fault } of frontmatter.faults) {
    file.add({ ...fault, constraint: "frontmatter" }, { line, column });
  }
  if (frontmatter.faults.length === 0) {
    rules({ report: file, frontmatter, fields: frontmatter.value });
  }
  context.findings.push(...file.findings);
}

function report(context: Context, fault: Fault): void {
  const { document, findings } = context;
  const place = placeAt(document, document.offsetOf(fault.json_pointer));
  findings.push(toFinding(fault, place));
}

function bindableTools(manifest: JsonObject): BindableTool[] {
  return objectsIn(manifest.tools, "/tools").map(({ value }) => ({
    name: textOf(value, "name") ?? "",
    inputSchema: objectOf(value.input_schema),
    destructive: isTrue(objectOf(value.annotations).destructive),
  }));
}

function isTrue(value: JsonValue | undefined): boolean {
  return value === true;
}
