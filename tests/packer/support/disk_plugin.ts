/** A small plugin in a folder of its own, to pack and to spoil. */
import { dirname } from "node:path";
import type { JsonObject } from "../../../schema/json.ts";
import {
  COMMAND_TEXT,
  MANIFEST,
  SKILL_TEXT,
} from "../../doctor/support/plugin.ts";

/** A signature that is none, as a plugin has while it is written. */
export const PLACEHOLDER: Readonly<
  Record<"sigstore_bundle" | "rekor_uuid", string>
> = {
  sigstore_bundle: "<base64-encoded-sigstore-bundle>",
  rekor_uuid: "0".repeat(80),
};

/** A plugin's folder. It is removed at the end of a `using` block. */
export interface DiskPlugin extends AsyncDisposable {
  /** The temporary folder above all. */
  readonly root: string;
  /** The manifest's folder. */
  readonly folder: string;
  readonly manifest: string;
  /** A folder that is not there yet. */
  readonly out: string;
  write(path: string, content: string | Uint8Array): Promise<void>;
}

/** What the plugin has besides or instead. */
export interface DiskPluginOptions {
  readonly manifest?: JsonObject;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** Its files: the declared ones and an asset. */
export const FILES: Readonly<Record<string, string>> = {
  "commands/acme-audit.md": COMMAND_TEXT,
  "skills/read-trail/SKILL.md": SKILL_TEXT,
  "skills/read-trail/references/notes.md": "# Notes\n\nNothing here.\n",
  "assets/note.txt": "Nothing to see here.\n",
};

/** Makes one, with a placeholder for its signature unless told otherwise. */
export async function diskPlugin(
  options: DiskPluginOptions = {},
): Promise<DiskPlugin> {
  const root = await Deno.makeTempDir();
  const folder = `${root}/source`;
  const write = async (path: string, content: string | Uint8Array) => {
    const file = `${folder}/${path}`;
    await Deno.mkdir(dirname(file), { recursive: true });
    await (typeof content === "string"
      ? Deno.writeTextFile(file, content)
      : Deno.writeFile(file, content));
  };
  const value = { ...MANIFEST, signature: PLACEHOLDER, ...options.manifest };
  const name = `${MANIFEST.id}@${MANIFEST.version}.plugin.json`;
  await write(name, `${JSON.stringify(value, null, 2)}\n`);
  for (
    const [path, content] of Object.entries({ ...FILES, ...options.files })
  ) {
    await write(path, content);
  }
  return {
    root,
    folder,
    manifest: `${folder}/${name}`,
    out: `${root}/out`,
    write,
    async [Symbol.asyncDispose]() {
      await Deno.remove(root, { recursive: true });
    },
  };
}

/** The names in a folder, `[]` where there is none. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name)
      .sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
