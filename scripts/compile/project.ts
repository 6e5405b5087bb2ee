/** What `deno.json` and `deno.lock` say, as far as compiling asks. */

import { fileURLToPath } from "node:url";

/** The repository's folder, with a slash at its end. */
export const ROOT: string = fileURLToPath(
  new URL("../../", import.meta.url),
);

/** The part of `deno.json` that is read here. */
export interface DenoConfig {
  readonly version: string;
  readonly imports: Readonly<Record<string, string>>;
  readonly tasks: Readonly<Record<string, { readonly command: string }>>;
  readonly unstable: readonly string[];
}

/** One npm package of the lockfile. */
export interface LockedPackage {
  /** `sha512-` and base64, as npm writes it. */
  readonly integrity: string;
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
}

/** The part of `deno.lock` that is read here. */
export interface DenoLock {
  readonly version: string;
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, LockedPackage>>;
  readonly workspace: { readonly dependencies: readonly string[] };
}

/** Reads one of the two files. */
export async function readJson<T>(name: string): Promise<T> {
  return JSON.parse(await Deno.readTextFile(`${ROOT}${name}`)) as T;
}

/** Key of a dependency in the lock: written with its version only where there are several. */
function resolve(lock: DenoLock, dependency: string): string {
  if (Object.hasOwn(lock.npm, dependency)) return dependency;
  const found = Object.keys(lock.npm).find((key) =>
    key.startsWith(`${dependency}@`) || key.startsWith(`${dependency}_`)
  );
  if (found === undefined) {
    throw new Error(`deno.lock does not hold "${dependency}"`);
  }
  return found;
}

/** A package and all that it needs, as keys of the lock, sorted. */
export function closure(lock: DenoLock, roots: readonly string[]): string[] {
  const seen = new Set<string>();
  const waiting = roots.map((root) => resolve(lock, root));
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    if (seen.has(key)) continue;
    seen.add(key);
    const { dependencies = [], optionalDependencies = [] } = lock
      .npm[key] as LockedPackage;
    waiting.push(
      ...[...dependencies, ...optionalDependencies]
        .map((one) => resolve(lock, one)),
    );
  }
  return [...seen].sort();
}

/** A lockfile of some import names alone. */
export function prunedLock(
  config: DenoConfig,
  lock: DenoLock,
  names: readonly string[],
): DenoLock {
  const specifiers = names.map((name) => config.imports[name] as string);
  const roots = specifiers.map((specifier) =>
    `${specifier.slice("npm:".length).replace(/@[^@]*$/, "")}@${
      lock.specifiers[specifier]
    }`
  );
  const pick = <T>(from: Readonly<Record<string, T>>, keys: string[]) =>
    Object.fromEntries(keys.map((key) => [key, from[key] as T]));
  return {
    version: lock.version,
    specifiers: pick(lock.specifiers, specifiers),
    npm: pick(lock.npm, closure(lock, roots)),
    workspace: { dependencies: [...specifiers].sort() },
  };
}
