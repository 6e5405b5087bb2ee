/**
 * A CommonJS package's exports. Deno names each of them; a bundler may give
 * all of them under `default` alone.
 */
export function commonJs<Module extends object>(module: Module): Module {
  const { default: exports } = module as { readonly default?: Module };
  return exports ?? module;
}
