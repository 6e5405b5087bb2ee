/** All targets, and which paths belong into a bundle for each. */
import type { Target } from "../types.ts";
import { claudeCode } from "./claude_code.ts";
import { codexCli } from "./codex_cli.ts";
import { cowork } from "./cowork.ts";
import { cursor } from "./cursor.ts";
import { BRIDGE_PATHS, type Host } from "./host.ts";

/** One entry per target. */
export const HOSTS: Readonly<Record<Target, Host>> = {
  "claude-code": claudeCode,
  cowork,
  cursor,
  "codex-cli": codexCli,
};

/** Where in the author's folder and in a bundle pictures and the like may lie. */
export const ASSETS_FOLDER = "assets/";

/**
 * Whether a path has a place in a target's tree: the canonical manifest, what the
 * packer makes for the host, declared commands and skills, `assets/`, a bridge.
 */
export function isExpectedPath(target: Target, path: string): boolean {
  const host = HOSTS[target];
  if (path === host.manifestPath || host.generatedPaths.includes(path)) {
    return true;
  }
  if (BRIDGE_PATHS.includes(path) || path.startsWith(ASSETS_FOLDER)) {
    return true;
  }
  if (host.commands && /^commands\/[a-z0-9-]+\.md$/.test(path)) return true;
  return host.skills && /^skills\/[a-z0-9-]+\/./.test(path);
}
