/** Finds a program once, at start: what PATH says later does not matter. */

/**
 * @param name A path, or a bare name to look for on `path`.
 * @param path The `PATH` variable.
 * @returns The absolute path of an executable file, or `undefined`.
 */
export function findProgram(
  name: string,
  path: string | undefined,
  os: string = Deno.build.os,
): string | undefined {
  const windows = os === "windows";
  if (/[/\\]/.test(name)) return executable(name);
  const endings = windows ? [".exe", ".cmd", ""] : [""];
  for (const dir of (path ?? "").split(windows ? ";" : ":")) {
    // A relative entry of PATH would let the working directory choose the program.
    if (!/^([/\\]|[A-Za-z]:)/.test(dir)) continue;
    for (const ending of endings) {
      const found = executable(`${dir}/${name}${ending}`);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function executable(path: string): string | undefined {
  try {
    const info = Deno.statSync(path);
    const may = info.mode === null || (info.mode & 0o111) !== 0;
    return info.isFile && may ? Deno.realPathSync(path) : undefined;
  } catch {
    return undefined;
  }
}
