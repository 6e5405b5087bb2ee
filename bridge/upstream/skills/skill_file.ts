/** One `SKILL.md`, judged. Source: the Agent Skills specification, PRODUCT "Upstream contracts". */
import type { FrontmatterReader } from "../common/frontmatter.ts";
import type { SkillText } from "./library.ts";

/** A skill, or why its file is none. `reason` holds no path of this machine. */
export type SkillFile =
  | { readonly ok: true; readonly skill: SkillText }
  | { readonly ok: false; readonly reason: string };

const ID = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const SLUG_LIKE = /^[a-z0-9][a-z0-9._-]*$/;
// The specification says 1024; a little over is told of, but nothing is lost by reading it.
const MAX_DESCRIPTION_CHARS = 1024;

/** Whether a folder's name can be a skill's id. */
export function isSkillId(name: string): boolean {
  return ID.test(name) && !name.includes("--");
}

/** Reads the text of a folder's `SKILL.md`. Never rejects. */
export async function readSkillFile(
  folder: string,
  text: string,
  reader: FrontmatterReader,
): Promise<SkillFile> {
  const head = await reader.read(text);
  if (!head.ok) return refuse(`SKILL.md ${head.reason}, line ${head.line}`);
  const { name, description } = head.data;
  if (typeof name !== "string" || name.trim() === "") {
    return refuse("SKILL.md has no name in its frontmatter");
  }
  if (typeof description !== "string" || description.trim() === "") {
    return refuse("SKILL.md has no description in its frontmatter");
  }
  if (description.trim().length > MAX_DESCRIPTION_CHARS) {
    return refuse(
      `SKILL.md has a description of ${description.trim().length} characters; at most ${MAX_DESCRIPTION_CHARS} are allowed`,
    );
  }
  if (name !== folder && SLUG_LIKE.test(name)) {
    return refuse(
      `SKILL.md names itself "${
        name.slice(0, 64)
      }", which is not its folder's name`,
    );
  }
  return {
    ok: true,
    skill: {
      skillId: folder,
      ...(name === folder ? {} : { title: clean(name).slice(0, 128) }),
      description: clean(description),
      instructions: head.body,
      origin: "SKILL.md",
    },
  };
}

function clean(text: string): string {
  return text.replace(/\s+/g, " ").replace(/\p{Cc}/gu, "").trim();
}

function refuse(reason: string): SkillFile {
  return { ok: false, reason };
}
