/** The skills that travel with the bridge. */
import type { DependencyStatus, Skill, SkillProblem } from "../../types.ts";
import type { SkillLibrary, SkillText } from "../skills/library.ts";
import type { Catalogue, CatalogueSkill } from "./catalogue.ts";

/** A library over the catalogue. */
export class CatalogueLibrary implements SkillLibrary {
  readonly #catalogue: () => Promise<Catalogue>;

  constructor(catalogue: () => Promise<Catalogue>) {
    this.#catalogue = catalogue;
  }

  async list(): Promise<{
    readonly skills: readonly Skill[];
    readonly problems: readonly SkillProblem[];
  }> {
    const { skills } = await this.#catalogue();
    const list = [...skills.values()]
      .map(({ id, title, description }) => ({
        skillId: id,
        title,
        description,
      }))
      .sort((a, b) => a.skillId < b.skillId ? -1 : 1);
    return { skills: list, problems: [] };
  }

  async read(skillId: string): Promise<SkillText | undefined> {
    const skill = (await this.#catalogue()).skills.get(skillId);
    return skill === undefined ? undefined : toSkillText(skill);
  }

  status(): Promise<DependencyStatus> {
    return Promise.resolve({
      name: "skills",
      state: "ok",
      detail: "embedded catalogue",
    });
  }
}

/** A skill of the catalogue with where its text comes from. */
export function toSkillText(skill: CatalogueSkill): SkillText {
  return {
    skillId: skill.id,
    title: skill.title,
    description: skill.description,
    instructions: skill.instructions,
    origin: skill.origin === "written"
      ? "embedded catalogue, written by hand"
      : "embedded catalogue, derived by kind",
  };
}
