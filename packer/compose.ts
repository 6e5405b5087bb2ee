/** Makes a host's tree from one manifest and its files: a pure function. */
import type { JsonObject } from "../schema/json.ts";
import type { Manifest } from "../schema/manifest.ts";
import { type BundleContent, manifestBytes } from "./content.ts";
import { memoryEntry, sortEntries } from "./entry.ts";
import { PackerError } from "./errors.ts";
import { commandName, type Host, type HostInput } from "./hosts/host.ts";
import { ASSETS_FOLDER, HOSTS } from "./hosts/mod.ts";
import { readmeText } from "./hosts/readme.ts";
import { findCollisions } from "./path.ts";
import type { BundleEntry, Target } from "./types.ts";

/** What a bundle is made from. */
export interface ComposeInput {
  /** Valid but for its signature, which is taken along as it is, or left out. */
  readonly manifest: Manifest | Omit<Manifest, "signature">;
  /** The author's files by their paths relative to the manifest's folder. */
  readonly files: ReadonlyMap<string, BundleEntry>;
  readonly target: Target;
  /** A compiled bridge, at one of `BRIDGE_PATHS` with mode 0755. */
  readonly bridge?: BundleEntry;
}

/** A host's tree, and what is in it. */
export interface ComposedBundle extends BundleContent {
  readonly toolsCount: number;
  /** Commands that the host has as commands. */
  readonly commandsCount: number;
  /** Skills that the host has, those made of commands included. */
  readonly skillsCount: number;
}

/**
 * Composes the tree that a host reads, the canonical manifest included.
 *
 * @throws {PackerError} `ENTRY_REFUSED` for a declared file that is not there, a
 * command that this host cannot have, or two files of one name.
 */
export async function composeBundle(
  input: ComposeInput,
): Promise<ComposedBundle> {
  const { files, target, bridge } = input;
  const manifest = input.manifest as Manifest;
  const host = HOSTS[target];
  const source: HostInput = {
    manifest,
    files,
    ...(bridge === undefined ? {} : { bridgePath: bridge.path }),
  };
  const entries = sortEntries([
    ...await madeEntries(host, source),
    ...await commandEntries(host, source),
    ...authorEntries(host, source),
    ...(bridge === undefined ? [] : [bridge]),
  ]);
  refuseCollisions(entries);
  const commands = manifest.commands?.length ?? 0;
  const skills = host.skills ? manifest.skills?.length ?? 0 : 0;
  return {
    target,
    manifest: manifest as unknown as JsonObject,
    entries,
    manifestPath: host.manifestPath,
    toolsCount: manifest.tools.length,
    commandsCount: host.commands ? commands : 0,
    skillsCount: skills + (host.commandsAsSkills ? commands : 0),
  };
}

/** The files that the packer makes: the canonical manifest and what the host asks for. */
export function madeEntries(
  host: Host,
  source: HostInput,
): Promise<BundleEntry[]> {
  const texts = [
    ...host.generate(source),
    ["README.md", readmeText(host, source)] as const,
  ];
  const manifest = source.manifest as unknown as JsonObject;
  return Promise.all([
    memoryEntry(host.manifestPath, manifestBytes(manifest)),
    ...texts.map(([path, text]) => memoryEntry(path, text)),
  ]);
}

function commandEntries(
  host: Host,
  source: HostInput,
): Promise<BundleEntry[]> {
  const commands = host.commands || host.commandsAsSkills
    ? source.manifest.commands ?? []
    : [];
  return Promise.all(commands.map(async ({ name, file }) => {
    const own = declared(source, file);
    if (host.command === undefined) return own;
    const path = host.commandsAsSkills
      ? `skills/${commandName(name)}/SKILL.md`
      : file;
    return await memoryEntry(path, await host.command(source, file));
  }));
}

function declared({ files }: HostInput, path: string): BundleEntry {
  const entry = files.get(path);
  if (entry !== undefined) return entry;
  throw new PackerError(
    "ENTRY_REFUSED",
    `Cannot pack "${path}": the manifest declares it and it is not there`,
    { hint: "Names are compared letter by letter, upper and lower case too" },
  );
}

// Skills whole, each with what lies in its folder, and the assets.
function authorEntries(host: Host, source: HostInput): BundleEntry[] {
  const folders = [ASSETS_FOLDER];
  for (const { path } of host.skills ? source.manifest.skills ?? [] : []) {
    declared(source, path);
    folders.push(path.slice(0, path.lastIndexOf("/") + 1));
  }
  const isTaken = (path: string) =>
    folders.some((folder) => path.startsWith(folder));
  return [...source.files.values()].filter(({ path }) => isTaken(path));
}

function refuseCollisions(entries: readonly BundleEntry[]): void {
  const [collision] = findCollisions(entries.map(({ path }) => path));
  if (collision === undefined) return;
  const { path, other } = collision;
  throw new PackerError(
    "ENTRY_REFUSED",
    `Cannot pack "${path}" and "${other}": some systems take them for one`,
    { hint: "Rename one of them" },
  );
}
