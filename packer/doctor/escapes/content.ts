/** Whether a file of commands, skills or assets holds only what a reader expects. */
import { hiddenText } from "../../../schema/hidden_text.ts";
import type { BundleEntry } from "../../types.ts";
import { display } from "../../display.ts";
import type { DoctorFinding, Verdict } from "../verdicts.ts";
import { fileKind, svgFault } from "./file_kinds.ts";
import { judgeMarkdown, type MarkdownRole } from "./text_rules.ts";

/** Bytes of the longest text that is examined. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** All faults of a file that the author brought along. */
export async function judgeContent(
  entry: BundleEntry,
): Promise<readonly DoctorFinding[]> {
  if (entry.size > MAX_TEXT_BYTES && !isPicture(entry.path)) {
    return [fault(entry, "TEXT_HIDDEN", "is too long to be examined")];
  }
  const role = hostRole(entry.path);
  if (role !== undefined) return [fault(entry, "PATH_UNEXPECTED", role)];
  const bytes = await entry.read();
  const kind = fileKind(entry.path, bytes.subarray(0, 16));
  if (kind === "program") {
    return [
      fault(entry, "PROGRAM_SMUGGLED", "is a program or a container of one"),
    ];
  }
  if (kind === "unknown") {
    return [
      fault(entry, "PATH_UNEXPECTED", "is no kind of file that plugins hold"),
    ];
  }
  return kind === "image" && isPicture(entry.path)
    ? []
    : judgeText(entry, bytes, kind === "image");
}

/** What a host would take a file in a skill's folder for, though nothing declares it. */
function hostRole(path: string): string | undefined {
  // Codex looks for skills at any depth, and reads a skill's settings and servers there.
  if (/^skills\/[^/]+\/.+\/SKILL\.md$/i.test(path)) {
    return "is a skill inside another, which no manifest declares";
  }
  return /^skills\/[^/]+\/agents\//i.test(path)
    ? "is what a host reads as a skill's settings"
    : undefined;
}

/** A picture in pixels: SVG is text. */
function isPicture(path: string): boolean {
  return /\.(png|jpe?g|gif|webp)$/i.test(path);
}

function judgeText(
  entry: BundleEntry,
  bytes: Uint8Array,
  svg: boolean,
): readonly DoctorFinding[] {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(bytes);
  } catch {
    return [fault(entry, "TEXT_HIDDEN", "is not UTF-8 text")];
  }
  const findings: DoctorFinding[] = [];
  if (hiddenText(text)) {
    const reason = "has characters that a reader cannot see";
    findings.push(fault(entry, "TEXT_HIDDEN", reason));
  }
  if (svg && svgFault(text) !== undefined) {
    findings.push(fault(entry, "PROGRAM_SMUGGLED", svgFault(text) ?? ""));
  }
  if (!/\.md$/i.test(entry.path)) return findings;
  for (const { code, reason } of judgeMarkdown(text, roleOf(entry.path))) {
    findings.push(fault(entry, code, reason));
  }
  return findings;
}

function roleOf(path: string): MarkdownRole {
  if (path.startsWith("commands/")) return "command";
  return /^skills\/[^/]+\/SKILL\.md$/i.test(path) ? "skill" : "document";
}

function fault(
  { path }: BundleEntry,
  code: Verdict,
  reason: string,
): DoctorFinding {
  return { code, path, message: `"${display(path)}" ${reason}` };
}
