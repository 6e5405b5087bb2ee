/** What the benches share: medians, whole processes, peers from npm. */

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Alternates two measurements, so that both meet the same weather, and gives their medians. */
export async function paired(
  runs: number,
  ours: () => Promise<number>,
  peer: () => Promise<number>,
): Promise<{ ours: number; peer: number }> {
  const mine: number[] = [];
  const theirs: number[] = [];
  for (let n = -1; n < runs; n++) {
    const [a, b] = [await ours(), await peer()];
    // The first pair warms caches.
    if (n >= 0) mine.push(a), theirs.push(b);
  }
  return { ours: median(mine), peer: median(theirs) };
}

/** Wall milliseconds of a whole process. */
export async function processMs(
  command: string,
  args: readonly string[],
  options: Deno.CommandOptions = {},
): Promise<number> {
  const began = performance.now();
  const { code } = await new Deno.Command(command, {
    ...options,
    args: [...args],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).output();
  const took = performance.now() - began;
  if (code !== 0) {
    throw new Error(
      `${command} ${args.slice(0, 3).join(" ")} exited with ${code}`,
    );
  }
  return took;
}

/** Installs npm packages into a folder of their own, once; gives the folder. */
export async function npmPeers(packages: readonly string[]): Promise<string> {
  const key = packages.join("_").replaceAll(/[^a-z0-9.-]+/gi, "_");
  const base = Deno.env.get("XDG_CACHE_HOME") ??
    `${Deno.env.get("HOME")}/.cache`;
  const dir = `${base}/cyberos-bench/${key}`;
  try {
    await Deno.stat(`${dir}/node_modules`);
    return dir;
  } catch {
    await Deno.mkdir(dir, { recursive: true });
  }
  await Deno.writeTextFile(`${dir}/package.json`, `{"private":true}`);
  const { success } = await new Deno.Command("npm", {
    args: ["install", "--silent", "--no-audit", "--no-fund", ...packages],
    cwd: dir,
  }).output();
  if (!success) throw new Error(`npm cannot install ${packages.join(" ")}`);
  return dir;
}

/** The repository's folder. */
export const ROOT: string = new URL("../", import.meta.url).pathname;

/** A Deno program that does nothing but print: the floor of every start-up. */
export async function helloWorld(): Promise<string> {
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(
    path,
    `Deno.stdout.writeSync(new TextEncoder().encode("hello\\n"));\n`,
  );
  return path;
}
