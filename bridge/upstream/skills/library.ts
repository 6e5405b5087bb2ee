/** A catalogue of skills whose texts are at hand: a folder, or the embedded one. */
import type { DependencyStatus, Skill, SkillProblem } from "../../types.ts";

/** A skill with its text. */
export interface SkillText extends Skill {
  /** What to do, in Markdown. */
  readonly instructions: string;
  /** Where the text comes from, in a word or two. */
  readonly origin: string;
}

/** Skills by id, in a fixed order. */
export interface SkillLibrary {
  list(): Promise<{
    readonly skills: readonly Skill[];
    readonly problems: readonly SkillProblem[];
  }>;
  /** `undefined` where there is no such skill, or it cannot be read. */
  read(skillId: string): Promise<SkillText | undefined>;
  status(): Promise<DependencyStatus>;
}
