/** Skills from a folder: `<folder>/<skill>/SKILL.md`, read again when a file changes. */
import type { DependencyStatus, Skill, SkillProblem } from "../../types.ts";
import { FrontmatterReader } from "../common/frontmatter.ts";
import type { SkillLibrary, SkillText } from "./library.ts";
import { isSkillId, readSkillFile, type SkillFile } from "./skill_file.ts";

/** What {@link FolderLibrary} needs. */
export interface FolderLibraryOptions {
  /** The folders to try in turn; the first that exists is scanned. */
  readonly candidates: readonly string[];
  /** Whether folders without a `SKILL.md` are reported: not in a checkout, which holds other things, too. */
  readonly reportBare: boolean;
}

const FILE = "SKILL.md";
const MAX_FOLDERS = 10_000;
const MAX_FILE_BYTES = 512 * 1024;
const AT_ONCE = 32;
// Within this time a second list does not even look whether files changed.
const FRESH_MS = 1_000;

interface Cached {
  readonly stamp: string;
  readonly file: SkillFile;
}

interface Folder {
  readonly name: string;
  readonly isLink: boolean;
}

interface Scan {
  readonly root: string;
  readonly skills: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}

/** No folder of the candidates can be read. */
export class NoFolderError extends Error {
  override readonly name = "NoFolderError";
}

/** A library over a folder of this machine. */
export class FolderLibrary implements SkillLibrary {
  readonly #options: FolderLibraryOptions;
  readonly #cache = new Map<string, Cached>();
  readonly #reader = new FrontmatterReader();
  #scan: { readonly at: number; readonly result: Promise<Scan> } | undefined;

  constructor(options: FolderLibraryOptions) {
    this.#options = options;
  }

  /** @throws {NoFolderError} */
  async list(): Promise<Scan> {
    const now = performance.now();
    if (this.#scan === undefined || now - this.#scan.at > FRESH_MS) {
      const result = this.#scanRoot();
      this.#scan = { at: now, result };
      result.catch(() => this.#scan = undefined);
    }
    return await this.#scan.result;
  }

  /** @throws {NoFolderError} */
  async read(skillId: string): Promise<SkillText | undefined> {
    if (!isSkillId(skillId)) return undefined;
    const { root } = await this.list();
    const file = await this.#load(root, skillId, { keepText: true });
    return file?.ok ? file.skill : undefined;
  }

  async status(): Promise<DependencyStatus> {
    const name = "skills";
    try {
      const { skills, problems } = await this.list();
      if (skills.length === 0) {
        return {
          name,
          state: "degraded",
          detail: "the skills folder holds no readable skill",
        };
      }
      return problems.length === 0 ? { name, state: "ok" } : {
        name,
        state: "ok",
        detail: `${problems.length} skills cannot be read`,
      };
    } catch {
      return {
        name,
        state: "down",
        detail: "the skills folder cannot be read: check CYBEROS_SKILLS_DIR",
      };
    }
  }

  async #scanRoot(): Promise<Scan> {
    const { root, folders } = await this.#open();
    const skills: Skill[] = [];
    const problems: SkillProblem[] = [];
    for (let at = 0; at < folders.length; at += AT_ONCE) {
      const batch = folders.slice(at, at + AT_ONCE);
      const files = await Promise.all(
        batch.map(({ name, isLink }) => this.#load(root, name, { isLink })),
      );
      files.forEach((file, index) => {
        if (file === undefined) return;
        if (file.ok) skills.push(withoutText(file.skill));
        else {
          const { name } = batch[index]!;
          problems.push({ skillId: shown(name), reason: file.reason });
        }
      });
    }
    const present = new Set(folders.map(({ name }) => name));
    for (const name of this.#cache.keys()) {
      if (!present.has(name)) this.#cache.delete(name);
    }
    return { root, skills, problems };
  }

  async #open(): Promise<
    { readonly root: string; readonly folders: readonly Folder[] }
  > {
    for (const candidate of this.#options.candidates) {
      try {
        const root = await Deno.realPath(candidate);
        const folders: Folder[] = [];
        for await (const entry of Deno.readDir(root)) {
          // Hidden folders and templates (`_template`) are no skills.
          if (entry.isFile || /^[._]/.test(entry.name)) continue;
          const { name, isSymlink } = entry;
          if (folders.push({ name, isLink: isSymlink }) >= MAX_FOLDERS) break;
        }
        // The order of a directory is the file system's; ours is by name.
        folders.sort((a, b) => a.name < b.name ? -1 : 1);
        return { root, folders };
      } catch {
        // Not here: the next candidate.
      }
    }
    throw new NoFolderError("no skills folder can be read");
  }

  /** `undefined` where the folder is none of our business. Never rejects. */
  async #load(
    root: string,
    folder: string,
    options: { readonly keepText?: boolean; readonly isLink?: boolean } = {},
  ): Promise<SkillFile | undefined> {
    if (!isSkillId(folder)) {
      return this.#options.reportBare ||
          await exists(`${root}/${folder}/${FILE}`)
        ? refuse(
          "the folder's name is no skill id (a-z, 0-9 and single hyphens)",
        )
        : undefined;
    }
    try {
      const isLink = options.isLink ??
        (await Deno.lstat(`${root}/${folder}`)).isSymlink;
      const found = await locate(root, { name: folder, isLink });
      if (found === undefined) return await this.#bare(root, folder);
      if (typeof found === "string") return refuse(found);
      const { path, info } = found;
      const stamp = `${info.mtime?.getTime()}:${info.size}:${info.ino}`;
      const cached = this.#cache.get(folder);
      if (cached?.stamp === stamp && !options.keepText) return cached.file;
      const text = await Deno.readTextFile(path);
      const file = await readSkillFile(folder, text, this.#reader);
      // The texts of a whole catalogue would be megabytes that nobody asked for.
      this.#cache.set(folder, { stamp, file: withoutBody(file) });
      return file;
    } catch {
      return refuse("SKILL.md cannot be read");
    }
  }

  async #bare(root: string, folder: string): Promise<SkillFile | undefined> {
    if (await exists(`${root}/${folder}/skill.md`)) {
      return refuse("the file must be named SKILL.md, in capitals");
    }
    return this.#options.reportBare
      ? refuse("the folder has no SKILL.md")
      : undefined;
  }
}

/** The skill's file; `undefined` where there is none, a text where it is refused. */
async function locate(
  root: string,
  { name, isLink }: Folder,
): Promise<
  { readonly path: string; readonly info: Deno.FileInfo } | string | undefined
> {
  const path = `${root}/${name}/${FILE}`;
  if (isLink && await leaves(root, `${root}/${name}`)) return LEAVES;
  const file = await lstat(path);
  if (file === undefined) return undefined;
  if (file.isSymlink && await leaves(root, path)) return LEAVES;
  const info = file.isSymlink ? await Deno.stat(path) : file;
  if (!info.isFile) return "SKILL.md is not a file";
  if (info.size > MAX_FILE_BYTES) return "SKILL.md is too large";
  return { path, info };
}

const LEAVES = "a link leads out of the skills folder";

async function leaves(root: string, path: string): Promise<boolean> {
  try {
    return !(await Deno.realPath(path)).startsWith(`${root}/`);
  } catch {
    // It leads nowhere, or to where we may not look.
    return true;
  }
}

async function lstat(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    const absent = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory;
    if (absent) return undefined;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then((info) => info !== undefined, () => false);
}

function withoutText({ skillId, title, description }: SkillText): Skill {
  return {
    skillId,
    ...(title === undefined ? {} : { title }),
    description,
  };
}

function withoutBody(file: SkillFile): SkillFile {
  return file.ok
    ? { ok: true, skill: { ...file.skill, instructions: "" } }
    : file;
}

function shown(folder: string): string {
  return folder.replace(/[^\x20-\x7e]/g, "?").slice(0, 64);
}

function refuse(reason: string): SkillFile {
  return { ok: false, reason };
}
