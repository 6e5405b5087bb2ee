/**
 * Bundles a program into a folder of its own: a third of the start-up time and
 * half of the size of a program compiled from its modules.
 */
import { builtinModules } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Program } from "./programs.ts";
import { type DenoConfig, type DenoLock, prunedLock, ROOT } from "./project.ts";
import { run } from "./run.ts";

/** A folder that `deno compile` can take. */
export interface Stage {
  readonly dir: string;
  readonly main: string;
  /** What nothing imports by name: workers, and files that are read at run time. */
  readonly includes: readonly string[];
}

/** How a worker is named in source; the only use of a module's own URL that survives bundling. */
const WORKER_URL =
  /new URL\(\s*["']([^"']+)\.ts["'],\s*import\.meta\.url\s*\)/g;

/** Bundles, with code splitting, so that what is imported late is still loaded late. */
export async function bundle(
  program: Program,
  dir: string,
  project: { config: DenoConfig; lock: DenoLock },
): Promise<Stage> {
  await Deno.remove(dir, { recursive: true }).catch(() => {});
  await Deno.mkdir(dir, { recursive: true });
  const externals = [
    ...program.unbundled,
    ...Object.keys(program.vendored),
    ...program.copied.map((path) => `./${baseName(path)}`),
  ].map((name) => `--external=${name}`);
  await run(Deno.execPath(), [
    "bundle",
    "--quiet",
    "--frozen",
    "--minify",
    "--code-splitting",
    ...externals,
    `--outdir=${dir}`,
    ...program.entries,
  ], ROOT);
  for (const path of program.copied) {
    await Deno.copyFile(`${ROOT}${path}`, `${dir}/${baseName(path)}`);
  }
  const files = await filesBelow(dir);
  const vendored = await vendor(program, dir);
  const outputs = program.entries.map((entry) => outputOf(entry, files));
  for (const file of files) await redirectWorkers(dir, file, outputs);
  await nameCommonJs(dir, files);
  await writeSettings(dir, { program, vendored, ...project });
  const [main, ...workers] = outputs;
  const folders = Object.keys(program.vendored)
    .map((specifier) => dirname(vendored[specifier] as string));
  return { dir, main: main as string, includes: [...workers, ...folders] };
}

async function filesBelow(dir: string, below = ""): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(`${dir}/${below}`)) {
    const path = `${below}${entry.name}`;
    if (entry.isDirectory) files.push(...await filesBelow(dir, `${path}/`));
    else files.push(path);
  }
  return files;
}

function baseName(path: string): string {
  return path.replace(/^.*[/\\]/, "");
}

function stem(path: string): string {
  return baseName(path).replace(/\.[jt]s$/, "");
}

function outputOf(entry: string, files: readonly string[]): string {
  const [found, another] = files.filter((file) => stem(file) === stem(entry));
  if (found === undefined || another !== undefined) {
    throw new Error(`The bundle has not exactly one file for ${entry}`);
  }
  return found;
}

/** Points each worker's URL at its bundle. */
async function redirectWorkers(
  dir: string,
  file: string,
  outputs: readonly string[],
): Promise<void> {
  const path = `${dir}/${file}`;
  const code = await Deno.readTextFile(path);
  const up = "../".repeat(file.split("/").length - 1) || "./";
  const changed = code.replaceAll(WORKER_URL, (_, source: string) => {
    const output = outputs.find((one) => stem(one) === stem(source));
    if (output === undefined) {
      throw new Error(
        `${file} starts ${source}.ts, which scripts/compile/programs.ts does not name`,
      );
    }
    return `new URL("${up}${output}",import.meta.url)`;
  });
  if (/new URL\([^)]*\.ts\W[^)]*import\.meta\.url/.test(changed)) {
    throw new Error(`${file} refers to a module in a form that is not known`);
  }
  if (changed !== code) await Deno.writeTextFile(path, changed);
}

/**
 * A CommonJS package that is imported late comes out of the bundler as a module
 * with a default alone; the runtime gives its members names too.
 */
async function nameCommonJs(
  dir: string,
  files: readonly string[],
): Promise<void> {
  const codes = new Map<string, string>();
  for (const file of files) {
    codes.set(file, await Deno.readTextFile(`${dir}/${file}`));
  }
  const common = [...codes].filter(([, code]) =>
    /export default [\w$]+\(\);\s*$/.test(code) && !/export\s*\{/.test(code)
  ).map(([file]) => file);
  for (const [file, code] of codes) {
    const changed = code.replaceAll(
      /import\("\.\/([^"]+)"\)/g,
      (whole, target: string) =>
        common.includes(target)
          ? `${whole}.then(m=>({...m.default,default:m.default}))`
          : whole,
    );
    if (changed !== code) await Deno.writeTextFile(`${dir}/${file}`, changed);
  }
}

/** Copies files of installed packages beside the bundle; gives the path of each import there. */
async function vendor(
  program: Program,
  dir: string,
): Promise<Record<string, string>> {
  // Only in a package of npm's do Node's modules have names without "node:".
  const paths: Record<string, string> = Object.fromEntries(
    builtinModules.filter((name) => /^[a-z]\w*$/.test(name))
      .map((name) => [name, `node:${name}`]),
  );
  for (const [specifier, wanted] of Object.entries(program.vendored)) {
    const main = fileURLToPath(import.meta.resolve(specifier));
    const from = dirname(main);
    const to = `vendor/${specifier.replaceAll(/\W+/g, "_")}`;
    for (const path of await filesBelow(from)) {
      if (!wanted.test(path)) continue;
      await Deno.mkdir(dirname(`${dir}/${to}/${path}`), { recursive: true });
      await Deno.copyFile(`${from}/${path}`, `${dir}/${to}/${path}`);
      Object.assign(paths, await wasmImports(`${from}/${path}`));
    }
    paths[specifier] = `./${to}/${baseName(main)}`;
  }
  return paths;
}

/**
 * `deno compile` takes every WebAssembly file for a module and looks for what it
 * imports. Those names are given to it by its own code, which reads it as data;
 * the place that the map names is never looked at.
 */
async function wasmImports(path: string): Promise<Record<string, string>> {
  if (!path.endsWith(".wasm")) return {};
  const module = await WebAssembly.compile(await Deno.readFile(path));
  return Object.fromEntries(
    WebAssembly.Module.imports(module)
      .map(({ module }) => [module, "data:text/javascript,"]),
  );
}

interface Settings {
  readonly program: Program;
  readonly vendored: Readonly<Record<string, string>>;
  readonly config: DenoConfig;
  readonly lock: DenoLock;
}

/** The pinned packages that were left out of the bundle, with their checksums. */
async function writeSettings(
  dir: string,
  { program, vendored, config, lock }: Settings,
): Promise<void> {
  const imports = {
    ...vendored,
    ...Object.fromEntries(
      program.unbundled.map((name) => [name, config.imports[name]]),
    ),
    // A compiled program imports any file of the machine, whatever it may read (seen on Deno 2.6.8), unless no
    // specifier leads to one.
    "file:///": "./outside/",
    "./": "./",
  };
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  await Deno.writeTextFile(
    `${dir}/deno.json`,
    json({ imports, unstable: config.unstable, lock: "./deno.lock" }),
  );
  await Deno.writeTextFile(
    `${dir}/deno.lock`,
    json(prunedLock(config, lock, program.unbundled)),
  );
}
