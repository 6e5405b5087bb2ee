/** Where the local issuer's private key is kept. */

/** Keeps one text, written once. */
export interface KeyStore {
  /** @returns `undefined` where none was created yet. */
  load(): Promise<string | undefined>;
  /** Keeps the text unless another process was faster. @returns What is kept. */
  create(text: string): Promise<string>;
}

/** Keeps the key in memory, for `--ephemeral`. */
export function createMemoryKeyStore(): KeyStore {
  let kept: string | undefined;
  return {
    load: () => Promise.resolve(kept),
    create: (text) => Promise.resolve(kept ??= text),
  };
}

/**
 * Keeps the key in a file that only its owner can read. Several processes may
 * create it at once: one wins, and none reads a half-written file.
 *
 * @param path Its folder is made where it is missing.
 */
export function createFileKeyStore(path: string): KeyStore {
  const load = async () => {
    try {
      return await Deno.readTextFile(path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  };
  return {
    load,
    async create(text) {
      await makeFolderOf(path);
      const draft = `${path}.${crypto.randomUUID()}`;
      await Deno.writeTextFile(draft, text, { createNew: true, mode: 0o600 });
      try {
        // A hard link, unlike a rename, fails where the name is taken.
        await Deno.link(draft, path);
      } catch (error) {
        if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
      } finally {
        await Deno.remove(draft);
      }
      return await load() ?? text;
    },
  };
}

async function makeFolderOf(path: string): Promise<void> {
  const folder = path.replace(/[/\\][^/\\]*$/, "");
  if (folder !== path && folder !== "") {
    await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  }
}
