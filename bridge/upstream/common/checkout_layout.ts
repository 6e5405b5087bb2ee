/**
 * Where a checkout of CyberOS has its parts, below `CYBEROS_ROOT`: what is read
 * there, and so what the sandbox must permit.
 */

/** Folders of skills: today's place, the one before, and the plain one. */
export const SKILL_FOLDERS: readonly string[] = [
  "modules/skill",
  "skills",
  "skill",
];

/** Folders of personas with their workflows. */
export const PERSONA_FOLDERS: readonly string[] = ["modules/cuo", "cuo"];
