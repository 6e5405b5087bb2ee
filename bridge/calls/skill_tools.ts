/** `cyberos.skill.list_catalog`: the catalogue, filtered and a page at a time. */
import type { JsonObject } from "../../schema/json.ts";
import type { Skills } from "../ports.ts";
import type { Skill, SkillProblem } from "../types.ts";
import type { ToolAnswer, ToolContext } from "./tool_set.ts";

const DEFAULT_SKILLS = 100;
const MAX_PROBLEMS = 50;

/**
 * Gives a page of the skills that have all words of `filter` in their id, title or
 * description; `next_offset` begins the next page. Skills that could not be
 * read are named on the first page.
 *
 * @param maxAnswerChars What the page may take as JSON; at least one skill is given.
 */
export async function listCatalog(
  skills: Skills,
  args: JsonObject,
  context: ToolContext & { readonly maxAnswerChars: number },
): Promise<ToolAnswer> {
  const catalogue = await skills.list(context);
  const found = matching(
    catalogue.skills,
    args["filter"] as string | undefined,
  );
  const offset = (args["offset"] as number | undefined) ?? 0;
  const limit = (args["limit"] as number | undefined) ?? DEFAULT_SKILLS;
  const page = fitting(
    found.slice(offset, offset + limit).map(toSkill),
    context.maxAnswerChars,
  );
  const next = offset + page.length;
  return {
    kind: "result",
    structured: {
      skills: page,
      total: found.length,
      ...(page.length > 0 && next < found.length ? { next_offset: next } : {}),
      ...(offset === 0 ? toProblems(catalogue.problems) : {}),
    },
  };
}

function matching(
  skills: readonly Skill[],
  filter: string | undefined,
): readonly Skill[] {
  const words = (filter ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return skills;
  return skills.filter(({ skillId, title, description }) => {
    const text = `${skillId} ${title ?? ""} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function fitting(
  skills: readonly JsonObject[],
  maxChars: number,
): readonly JsonObject[] {
  let chars = 0;
  const end = skills.findIndex((skill, index) => {
    chars += JSON.stringify(skill).length;
    return index > 0 && chars > maxChars;
  });
  return end === -1 ? skills : skills.slice(0, end);
}

function toSkill(skill: Skill): JsonObject {
  return {
    skill_id: skill.skillId,
    ...(skill.title === undefined ? {} : { title: skill.title }),
    description: skill.description,
  };
}

function toProblems(problems: readonly SkillProblem[]): JsonObject {
  if (problems.length === 0) return {};
  const shown = problems.slice(0, MAX_PROBLEMS)
    .map(({ skillId, reason }) => ({ skill_id: skillId, reason }));
  const rest = problems.length - shown.length;
  return {
    problems: rest === 0 ? shown : [
      ...shown,
      { skill_id: "…", reason: `${rest} more skills could not be read` },
    ],
  };
}
