/**
 * Collects a plugin's files from the manifest's folder: declared commands,
 * declared skills with all that lies in their folders, and `assets/`. Everything
 * else stays where it is.
 */
import type { Manifest } from "../../schema/manifest.ts";
import { comparePaths } from "../entry.ts";
import { PackerError } from "../errors.ts";
import type { ArchiveLimits } from "../limits.ts";
import { findCollisions, pathFault } from "../path.ts";
import type { BundleEntry } from "../types.ts";
import { display } from "../display.ts";
import { diskEntry, reasonOf } from "./read.ts";
import { secretContent, secretName } from "./secrets.ts";
import { isText, unixLineEnds } from "./text.ts";

/** What {@link collectFiles} found. */
export interface CollectedFiles {
  readonly files: ReadonlyMap<string, BundleEntry>;
  /** Names beside the declared ones that were not taken, for a hint to the author. */
  readonly leftOut: readonly string[];
}

/** What it is told. */
export interface CollectOptions {
  readonly limits: ArchiveLimits;
  /** What else a file must not be: the reason, or `undefined`. */
  readonly judge?: (
    path: string,
    bytes: Uint8Array<ArrayBuffer>,
  ) => Promise<string | undefined>;
  /** Called after each file. */
  readonly onFile?: (path: string, size: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Reads what a manifest declares.
 *
 * @param folder The manifest's folder.
 * @throws {PackerError} `ENTRY_REFUSED` naming the file and the rule,
 * `ARCHIVE_TOO_LARGE`, `ENTRY_CHANGED`.
 */
export async function collectFiles(
  folder: string,
  manifest: Pick<Manifest, "commands" | "skills">,
  options: CollectOptions,
): Promise<CollectedFiles> {
  const walk = new Walk(folder, options);
  const commands = new Set(manifest.commands?.map(({ file }) => file));
  const skills = new Set(
    manifest.skills?.map(({ path }) => path.split("/")[1] ?? ""),
  );
  const top = walk.list("");
  for (
    const [name, take] of [
      ["commands", (path: string) => commands.has(path)],
      ["skills", (path: string) => skills.has(path.split("/")[1] ?? "")],
      ["assets", () => true],
    ] as const
  ) {
    const item = top.get(name);
    if (item !== undefined) walk.branch(name, item, take);
  }
  const paths = walk.found.sort(comparePaths);
  refuseCollisions(paths);
  return {
    files: await readAll(folder, paths, options),
    leftOut: walk.leftOut,
  };
}

// What operating systems drop into folders, and nobody means to publish.
const DROPPINGS = /^(\.DS_Store|\._.*|Thumbs\.db|desktop\.ini|\.localized)$/i;
const VCS =
  /^(\.(git|hg|svn|bzr|jj|fossil|gitignore|gitattributes|gitmodules|gitkeep|hgignore)|_darcs|CVS)$/i;
const MAX_DEPTH = 12;

type Kind = "file" | "folder" | "link" | "other";

class Walk {
  readonly found: string[] = [];
  readonly leftOut: string[] = [];
  readonly #root: string;
  readonly #options: CollectOptions;

  constructor(root: string, options: CollectOptions) {
    this.#root = root;
    this.#options = options;
  }

  /** Names in a folder, spelled as they are stored. */
  list(path: string): ReadonlyMap<string, Kind> {
    const items = new Map<string, Kind>();
    try {
      for (const item of Deno.readDirSync(join(this.#root, path))) {
        items.set(item.name, kindOf(item));
      }
    } catch (cause) {
      throw refuse(path || "the manifest's folder", reasonOf(cause), cause);
    }
    return items;
  }

  branch(path: string, kind: Kind, take: (path: string) => boolean): void {
    this.#options.signal?.throwIfAborted();
    if (kind === "link") {
      throw refuse(path, "it is a symbolic link", undefined, LINK_HINT);
    }
    if (kind === "folder") return this.#folder(path, take);
    if (!take(path)) {
      this.leftOut.push(path);
      return;
    }
    if (kind !== "file") throw refuse(path, "it is not a plain file");
    judgeName(path);
    this.found.push(path);
    const { entries } = this.#options.limits;
    if (this.found.length > entries) {
      throw new PackerError(
        "ARCHIVE_TOO_LARGE",
        `Cannot pack more than ${entries} files`,
      );
    }
  }

  #folder(path: string, take: (path: string) => boolean): void {
    const depth = path.split("/").length;
    if (depth > MAX_DEPTH) {
      throw refuse(path, `it lies more than ${MAX_DEPTH} folders deep`);
    }
    // Below skills/, the folder decides for all that is in it.
    if (depth === 2 && !take(path)) {
      this.leftOut.push(`${path}/`);
      return;
    }
    for (const [name, kind] of this.list(path)) {
      if (DROPPINGS.test(name)) continue;
      if (VCS.test(name)) {
        throw refuse(`${path}/${name}`, "it is version control data");
      }
      // A name that no path can hold would not be found again either.
      this.branch(`${path}/${name}`, kind, take);
    }
  }
}

const LINK_HINT =
  "Put the file itself there: a link would bring in what lies elsewhere";

function kindOf(item: Deno.DirEntry): Kind {
  if (item.isSymlink) return "link";
  if (item.isDirectory) return "folder";
  return item.isFile ? "file" : "other";
}

function judgeName(path: string): void {
  const fault = pathFault(path.normalize("NFC"));
  if (fault !== undefined) throw refuse(path, `its path is illegal: ${fault}`);
  const secret = secretName(path);
  if (secret !== undefined) throw refuse(path, secret);
  const hidden = path.split("/").some((segment) => segment.startsWith("."));
  if (hidden) throw refuse(path, "its name starts with a dot");
}

function refuseCollisions(paths: readonly string[]): void {
  const [collision] = findCollisions(
    paths.map((path) => path.normalize("NFC")),
  );
  if (collision === undefined) return;
  throw refuse(
    collision.path,
    `some systems take it and "${display(collision.other)}" for one`,
    undefined,
    "Rename one of them",
  );
}

// Bytes of small files that stay in memory between digesting and packing.
const KEEP_BYTES = 16 * 1024 * 1024;

async function readAll(
  folder: string,
  paths: readonly string[],
  options: CollectOptions,
): Promise<ReadonlyMap<string, BundleEntry>> {
  const { limits, onFile, signal } = options;
  const files = new Map<string, BundleEntry>();
  const keep = { bytes: KEEP_BYTES };
  let total = 0;
  for (const name of paths) {
    signal?.throwIfAborted();
    // On some systems the disk gives names in another form than they were given.
    const path = name.normalize("NFC");
    const entry = await diskEntry(
      {
        file: join(folder, name),
        path,
        mode: 0o644,
        maxBytes: limits.entryBytes,
        ...(isText(path) ? { shape: unixLineEnds } : {}),
      },
      keep,
      (bytes) => judgeContent(path, bytes, options),
    );
    total += entry.size;
    if (total > limits.unpackedBytes) {
      throw new PackerError(
        "ARCHIVE_TOO_LARGE",
        `Cannot pack more than ${limits.unpackedBytes} bytes`,
      );
    }
    files.set(path, entry);
    onFile?.(path, entry.size);
  }
  return files;
}

async function judgeContent(
  path: string,
  bytes: Uint8Array<ArrayBuffer>,
  { judge }: CollectOptions,
): Promise<void> {
  const secret = secretContent(bytes);
  if (secret !== undefined) {
    const hint = "Take it out, and treat it as leaked if it was ever published";
    throw refuse(path, `it holds ${secret}`, undefined, hint);
  }
  const reason = await judge?.(path, bytes);
  if (reason !== undefined) throw refuse(path, reason);
}

function refuse(
  path: string,
  reason: string,
  cause?: unknown,
  hint?: string,
): PackerError {
  return new PackerError(
    "ENTRY_REFUSED",
    `Cannot pack "${display(path)}": ${reason}`,
    { cause, ...(hint === undefined ? {} : { hint }) },
  );
}

function join(folder: string, path: string): string {
  return path === "" ? folder : `${folder}/${path}`;
}
