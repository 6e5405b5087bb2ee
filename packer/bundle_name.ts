/** How bundles and the files beside a manifest are called. */
import type { Target } from "./types.ts";

/** What a name is made from. */
export interface BundleIdentity {
  /** The plugin's id. */
  readonly id: string;
  /** SemVer. */
  readonly version: string;
  /** The host. */
  readonly target: Target;
  /** The platform of the bridge that the bundle takes along, such as `linux-x64`. */
  readonly platform?: string;
}

/** The host whose bundle has the plain name and whose signature is in the manifest. */
export const DEFAULT_TARGET: Target = "claude-code";

/**
 * The bundle's file name: `<id>-<version>.plugin` for Claude Code, with the target
 * and the bridge's platform in front of the ending for all others, so that one
 * folder can hold them all.
 */
export function bundleName(bundle: BundleIdentity, unsigned = false): string {
  const { id, version, target, platform } = bundle;
  const label = target === DEFAULT_TARGET && platform === undefined
    ? ""
    : `.${labelOf(target, platform)}`;
  return `${id}-${version}${label}${unsigned ? ".unsigned.zip" : ".plugin"}`;
}

/**
 * The file beside the manifest that holds this bundle's signature:
 * `<id>@<version>.<target>.signature.json`, with the bridge's platform behind the
 * target where there is one.
 *
 * @returns `undefined` where the signature is in the manifest itself.
 */
export function signatureFileName(bundle: BundleIdentity): string | undefined {
  const { id, version, target, platform } = bundle;
  if (target === DEFAULT_TARGET && platform === undefined) return undefined;
  return `${id}@${version}.${labelOf(target, platform)}.signature.json`;
}

function labelOf(target: Target, platform: string | undefined): string {
  return platform === undefined ? target : `${target}.${platform}`;
}
