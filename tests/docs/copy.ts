/** A fresh copy of the repository, as a clone would be, and the environment of a new user. */

const NOT_CLONED = new Set([
  ".git",
  "node_modules",
  "dist",
  "coverage",
  ".cyberos",
]);

/** The copy; gone at the end of `await using`. */
export interface RepositoryCopy extends AsyncDisposable {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory, isFile } of Deno.readDir(from)) {
    if (NOT_CLONED.has(name)) continue;
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    if (isFile) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Copies what a clone has. The cache of dependencies is shared: a new user would fill it from the registry. */
export async function copyOfRepository(root: string): Promise<RepositoryCopy> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const dir = `${base}/cyberos`;
  await copyFolder(root.replace(/\/$/, ""), dir);
  await Deno.mkdir(`${base}/home`);
  const deno = Deno.execPath().replace(/\/[^/]*$/, "");
  return {
    dir,
    env: {
      PATH: `${deno}:${Deno.env.get("PATH")}`,
      HOME: `${base}/home`,
      DENO_DIR: Deno.env.get("DENO_DIR") ??
        `${Deno.env.get("HOME")}/.cache/deno`,
      NO_COLOR: "1",
    },
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}
