/** Rules of `skills/<name>/SKILL.md`. Source: PRODUCT decisions, "The bundle"; Agent Skills. */
import {
  checkDescription,
  checkHeadings,
  checkKnownFields,
  checkName,
  requireText,
} from "./fields.ts";
import type { Subject } from "./report.ts";
import { reportField } from "./report.ts";

const FIELDS = [
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
];

const HEADINGS = [
  "When to use",
  "Tools chained",
  "Scopes required",
  "Side effects",
  "Worked example",
];

const TRIGGERS = 4;

/** Judges a skill's frontmatter and body; its name is its folder's. */
export function checkSkillFile(subject: Subject, folder: string): void {
  checkName(subject, folder);
  const description = checkDescription(subject);
  if (description !== undefined) checkTriggers(subject, description);
  if (subject.fields.license !== undefined) {
    requireText(
      subject,
      ["license"],
      subject.fields.license,
      "Write an SPDX licence, such as Apache-2.0",
    );
  }
  checkKnownFields(subject, FIELDS);
  checkHeadings(subject, HEADINGS);
}

function checkTriggers(subject: Subject, description: string): void {
  const phrases = description.match(/"[^"]+"|“[^”]+”/g) ?? [];
  const different = new Set(phrases).size;
  if (different >= TRIGGERS) return;
  reportField(subject, ["description"], {
    constraint: "triggers",
    expected: TRIGGERS,
    actual: different,
    message:
      `The description has ${different} quoted trigger phrases, where at least ${TRIGGERS} are right`,
    advice:
      'Add what a person would say, in double quotes: Use for "run the budget", "…"',
  });
}

/**
 * Whether a text has two lists of at least four phrases, one that should
 * trigger the skill and one that should not.
 */
export function hasTriggerTests(text: string): boolean {
  const sections = text.split(/^#{1,6} .*$/m).slice(1);
  const long = sections.filter((section) =>
    (section.match(/^ *(?:[-*+]|\d+[.)]) +\S/gm) ?? []).length >= TRIGGERS
  );
  return long.length >= 2;
}
