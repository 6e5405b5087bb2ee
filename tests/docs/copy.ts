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

/** The two programs under their own names, as after an installation. */
async function installShims(dir: string, bin: string): Promise<void> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${dir}/deno.json`));
  for (const [name, task] of [["plugin", "plugin"], ["mcp-bridge", "bridge"]]) {
    const command = tasks[task as string].command as string;
    const main = command.split(" ").at(-1);
    await Deno.writeTextFile(
      `${bin}/cyberos-${name}`,
      `#!/bin/sh\nexec ${
        command.slice(0, -(main as string).length)
      }--config '${dir}/deno.json' '${dir}/${main}' "$@"\n`,
      { mode: 0o755 },
    );
  }
}

/** Copies what a clone has. The cache of dependencies is shared: a new user would fill it from the registry. */
export async function copyOfRepository(root: string): Promise<RepositoryCopy> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const dir = `${base}/cyberos`;
  await copyFolder(root.replace(/\/$/, ""), dir);
  await Deno.mkdir(`${base}/home/.cache`, { recursive: true });
  const cache = Deno.env.get("DENO_DIR") ??
    `${Deno.env.get("HOME")}/.cache/deno`;
  await Deno.symlink(cache, `${base}/home/.cache/deno`);
  await Deno.mkdir(`${base}/bin`);
  await installShims(dir, `${base}/bin`);
  const deno = Deno.execPath().replace(/\/[^/]*$/, "");
  return {
    dir,
    env: {
      PATH: `${base}/bin:${deno}:${Deno.env.get("PATH")}`,
      HOME: `${base}/home`,
      XDG_CACHE_HOME: `${base}/home/.cache`,
      NO_COLOR: "1",
    },
    [Symbol.asyncDispose]: () => Deno.remove(base, { recursive: true }),
  };
}
