/** What a host is to the packer: a pure function from manifest and files to a tree. */
import type { Manifest } from "../../schema/manifest.ts";
import { PackerError } from "../errors.ts";
import type { ArchiveLimits } from "../limits.ts";
import type { BundleEntry, Target } from "../types.ts";

/** The bridge's name in every host's configuration. */
export const SERVER_NAME = "cyberos";

/** The bridge's program, as it is found on PATH. */
export const BRIDGE_PROGRAM = "cyberos-mcp-bridge";

/** Where a bridge taken along lies: never `bin/`, which claude.ai and Cowork refuse. */
export const BRIDGE_PATHS: readonly string[] = [
  `server/${BRIDGE_PROGRAM}`,
  `server/${BRIDGE_PROGRAM}.exe`,
];

/** What a bundle is made from. */
export interface HostInput {
  readonly manifest: Manifest;
  /** The author's files by their paths, those of the bundle and perhaps more. */
  readonly files: ReadonlyMap<string, BundleEntry>;
  /** One of {@link BRIDGE_PATHS}, where the bundle takes a bridge along. */
  readonly bridgePath?: string;
}

/** One target. */
export interface Host {
  readonly target: Target;
  /** How the host calls itself. */
  readonly title: string;
  /** Where the canonical manifest lies, so that the host does not take it for its own. */
  readonly manifestPath: string;
  /** Files that are made from the manifest; each host has its own. */
  readonly generatedPaths: readonly string[];
  /** Whether `commands/*.md` are in the tree. */
  readonly commands: boolean;
  /** Whether `skills/` is in the tree. */
  readonly skills: boolean;
  /** Whether commands are in the tree as skills. */
  readonly commandsAsSkills: boolean;
  /** What the host refuses to load, where that is less than a bundle may be. */
  readonly limits?: ArchiveLimits;
  /** How to install it, for the bundle's README: Markdown lines. */
  install(id: string): readonly string[];
  /** The files of {@link generatedPaths} but the README, in text. */
  generate(input: HostInput): ReadonlyMap<string, string>;
  /** A command's file as this host wants it; absent where the author's own will do. */
  command?(input: HostInput, path: string): Promise<string>;
}

/** JSON as people read it. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The command line that starts the bridge. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * How a host starts the bridge over stdio.
 *
 * @param root What the host's configuration calls the plugin's folder.
 */
export function serverCommand(
  { manifest, bridgePath }: HostInput,
  root: string,
): ServerCommand {
  return {
    command: bridgePath === undefined
      ? BRIDGE_PROGRAM
      : `${root}/${bridgePath}`,
    // Tokens are made out to a plugin: the bridge has to know for which it stands.
    args: manifest.id === SERVER_NAME ? [] : ["--plugin-id", manifest.id],
  };
}

/** The first author, as hosts want it. */
export function authorOf(
  manifest: Manifest,
): { name: string; email?: string; url?: string } {
  const [author] = manifest.authors;
  if (author === undefined) {
    throw new PackerError("MANIFEST_INVALID", "The manifest names no author");
  }
  const { name, email, url } = author;
  return {
    name,
    ...(email === undefined ? {} : { email }),
    ...(url === undefined ? {} : { url }),
  };
}

/** A command's name without its slash. */
export function commandName(name: string): string {
  return name.replace(/^\//, "");
}
