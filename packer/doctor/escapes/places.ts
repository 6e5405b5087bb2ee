/** Whether a file lies where its host's tree has a place for it. */
import type { JsonObject, JsonValue } from "../../../schema/json.ts";
import type { Host } from "../../hosts/host.ts";
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
  const host = HOSTS[target];
  const hidden = path.split("/").some((name) => name.startsWith("."));
  const made = host.generatedPaths.includes(path);
  if (!isExpectedPath(target, path) || hidden && !made) {
    return `has no place in a bundle for ${host.title}`;
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

/** A file that the manifest declares, as far as this host has it. */
export interface DeclaredFile {
  readonly path: string;
  /** Of the declaration. */
  readonly pointer: string;
}

/** The declared commands and skills that must lie in a host's tree. */
export function declaredFiles(
  manifest: JsonObject,
  host: Host,
): readonly DeclaredFile[] {
  const commands = host.commands ? [...texts(manifest.commands, "file")] : [];
  const skills = host.skills ? [...texts(manifest.skills, "path")] : [];
  return [
    ...commands.map((path, i) => ({ path, pointer: `/commands/${i}/file` })),
    ...skills.map((path, i) => ({ path, pointer: `/skills/${i}/path` })),
  ];
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
