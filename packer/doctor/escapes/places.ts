/** Whether a file lies where its host's tree has a place for it. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import { HOSTS, isExpectedPath } from "../../hosts/mod.ts";
import type { Target } from "../../types.ts";

/**
 * Hosts load commands and skills by their place: one that the manifest does not
 * declare would be there without anybody having agreed to it.
 *
 * @returns What is wrong with the place, to follow the path in a sentence.
 */
export function placeFault(
  target: Target,
  manifest: JsonObject,
  path: string,
): string | undefined {
  if (!isExpectedPath(target, path)) {
    return `has no place in a bundle for ${HOSTS[target].title}`;
  }
  const folder = /^skills\/([^/]+)\//.exec(path)?.[1];
  if (folder !== undefined && !skillFolders(target, manifest).has(folder)) {
    return "belongs to a skill that the manifest does not declare";
  }
  if (
    path.startsWith("commands/") && !texts(manifest.commands, "file").has(path)
  ) {
    return "is a command that the manifest does not declare";
  }
  return undefined;
}

function skillFolders(target: Target, manifest: JsonObject): Set<string> {
  const folders = new Set<string>();
  for (const path of texts(manifest.skills, "path")) {
    const folder = /^skills\/([^/]+)\//.exec(path)?.[1];
    if (folder !== undefined) folders.add(folder);
  }
  if (HOSTS[target].commandsAsSkills) {
    for (const name of texts(manifest.commands, "name")) {
      folders.add(name.replace(/^\//, ""));
    }
  }
  return folders;
}

function texts(list: JsonValue | undefined, member: string): Set<string> {
  if (!Array.isArray(list)) return new Set();
  return new Set(
    list.map((item) => (item as JsonObject | null)?.[member])
      .filter((text) => typeof text === "string"),
  );
}
