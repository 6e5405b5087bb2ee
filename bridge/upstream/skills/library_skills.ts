/** The skills port over texts at hand: to run a skill is to hand its brief to the host's model. */
import type { JsonObject } from "../../../schema/json.ts";
import { BridgeError } from "../../errors.ts";
import type {
  Logger,
  RunContext,
  Skills,
  Telemetry,
  UpstreamContext,
} from "../../ports.ts";
import type { DependencyStatus, Skill, SkillProblem } from "../../types.ts";
import { abortError, orAbort } from "../common/deadline.ts";
import { didYouMean } from "../common/nearest.ts";
import { traced } from "../common/traced.ts";
import { briefOf } from "./brief.ts";
import type { SkillLibrary, SkillText } from "./library.ts";

/** What {@link LibrarySkills} needs. */
export interface LibrarySkillsOptions {
  readonly library: SkillLibrary;
  readonly telemetry: Telemetry;
  readonly log: Logger;
}

/** Skills without a broker. */
export class LibrarySkills implements Skills {
  readonly #options: LibrarySkillsOptions;
  #reported = "";

  constructor(options: LibrarySkillsOptions) {
    this.#options = options;
  }

  list(
    context: UpstreamContext,
  ): Promise<
    {
      readonly skills: readonly Skill[];
      readonly problems: readonly SkillProblem[];
    }
  > {
    return this.#traced("skills.list", context, async () => {
      const { skills, problems } = await this.#options.library.list();
      this.#report(problems);
      return { skills, problems };
    });
  }

  invoke(
    run: { readonly skillId: string; readonly inputs: JsonObject },
    context: RunContext,
  ): Promise<JsonObject> {
    return this.#traced("skills.invoke", context, async () => {
      const skill = await this.#find(run.skillId);
      context.onProgress({ step: 1, total: 1, message: skill.skillId });
      return briefOf(skill, run.inputs);
    });
  }

  status(signal: AbortSignal): Promise<DependencyStatus> {
    return orAbort(this.#options.library.status(), signal).catch(() => ({
      name: "skills",
      state: "down" as const,
      detail: "did not answer in time",
    }));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #find(skillId: string): Promise<SkillText> {
    const skill = await this.#options.library.read(skillId);
    if (skill !== undefined) return skill;
    const { skills, problems } = await this.#options.library.list();
    const problem = problems.find((entry) => entry.skillId === skillId);
    const shown = skillId.replace(/\p{Cc}/gu, " ").slice(0, 64);
    if (problem !== undefined) {
      throw new BridgeError("NOT_FOUND", `Skill "${shown}" cannot be read`, {
        hint: `The operator must repair it: ${problem.reason}.`,
      });
    }
    throw new BridgeError("NOT_FOUND", `No skill "${shown}"`, {
      hint: didYouMean(
        skillId,
        skills.map((entry) => entry.skillId),
        "cyberos.skill.list_catalog lists all of them.",
      ),
    });
  }

  /** Each set of problems once: a list is asked for again and again. */
  #report(problems: readonly SkillProblem[]): void {
    const key = JSON.stringify(problems);
    if (problems.length === 0 || key === this.#reported) return;
    this.#reported = key;
    for (const { skillId, reason } of problems.slice(0, 100)) {
      this.#options.log.warn("skill cannot be read", {
        skill_id: skillId,
        reason,
      });
    }
  }

  #traced<T>(
    name: string,
    context: UpstreamContext,
    work: () => Promise<T>,
  ): Promise<T> {
    return traced(
      this.#options.telemetry,
      context,
      name,
      { "cyberos.upstream": "skills" },
      async () => {
        try {
          return await orAbort(work(), context.signal);
        } catch (error) {
          if (error instanceof BridgeError) throw error;
          if (context.signal.aborted) {
            throw abortError(context.signal, "The skill catalogue");
          }
          throw unreadable(error);
        }
      },
    );
  }
}

function unreadable(cause: unknown): BridgeError {
  return new BridgeError(
    "UPSTREAM_UNAVAILABLE",
    "The skills folder cannot be read",
    {
      cause,
      hint:
        "The operator must check that CYBEROS_SKILLS_DIR (or the skills folder of CYBEROS_ROOT) exists and that the bridge may read it.",
    },
  );
}
