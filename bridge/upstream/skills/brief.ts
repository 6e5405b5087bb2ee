/** What a host's model is handed to do a skill's work itself. */
import type { JsonObject } from "../../../schema/json.ts";
import type { SkillText } from "./library.ts";

const MAX_INSTRUCTION_CHARS = 40_000;

/** Said wherever the bridge has no model that could do the work. */
export const NO_MODEL_NOTE =
  "The bridge has no model of its own here: you, the host's model, do this work now by the instructions. Nothing has been produced yet.";

/** The result of `invoke_skill` without a broker. */
export function briefOf(skill: SkillText, inputs: JsonObject): JsonObject {
  const names = Object.keys(inputs);
  const text = trimmed(skill.instructions, MAX_INSTRUCTION_CHARS);
  return {
    skill_id: skill.skillId,
    ...(skill.title === undefined ? {} : { title: skill.title }),
    mode: "brief",
    note: NO_MODEL_NOTE,
    task: `Carry out the skill "${skill.skillId}" with the inputs of this call${
      names.length === 0 ? " (none were given)" : `: ${names.join(", ")}`
    }. ${skill.description}`,
    inputs_given: names,
    origin: skill.origin,
    instructions: text,
    ...(text.length < skill.instructions.length
      ? { instructions_trimmed: true }
      : {}),
  };
}

/** The text, cut at the end of a paragraph or line where it is longer than allowed. */
export function trimmed(text: string, maxChars: number): string {
  const whole = text.trim();
  if (whole.length <= maxChars) return whole;
  const cut = whole.slice(0, maxChars);
  const paragraph = cut.lastIndexOf("\n\n");
  const line = cut.lastIndexOf("\n");
  const at = paragraph > maxChars / 2 ? paragraph : line > 0 ? line : maxChars;
  return `${cut.slice(0, at).toWellFormed().trimEnd()}\n…`;
}
