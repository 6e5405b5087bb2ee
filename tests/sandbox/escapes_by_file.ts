/** Reading and writing outside the folders that the configuration names. */
import { readFileSync } from "node:fs";
import type { Escape } from "./escapes.ts";
import { SECRET, type Targets } from "./targets.ts";

const secret = (text: string) => text.includes(SECRET);

async function readOwn({ dataDir }: Targets): Promise<boolean> {
  return await Deno.readTextFile(`${dataDir}/own.txt`) === "own";
}

async function writeOwn({ dataDir }: Targets): Promise<boolean> {
  await Deno.writeTextFile(`${dataDir}/written.txt`, "x");
  return (await Deno.stat(`${dataDir}/written.txt`)).size === 1;
}

/** The data folder, and nothing through it or beside it. */
export const escapesByFile: readonly Escape[] = [
  {
    name: "read another file",
    attempt: async ({ secretFile }) =>
      secret(await Deno.readTextFile(secretFile)),
    control: readOwn,
  },
  {
    name: "read another file through node:fs",
    attempt: ({ secretFile }) => secret(readFileSync(secretFile, "utf8")),
    control: ({ dataDir }) =>
      readFileSync(`${dataDir}/own.txt`, "utf8") === "own",
  },
  {
    name: "read another file through fetch",
    attempt: async ({ secretFile }) =>
      secret(await (await fetch(`file://${secretFile}`)).text()),
    control: async ({ dataDir }) =>
      await (await fetch(`file://${dataDir}/own.txt`)).text() === "own",
  },
  {
    name: "read with .. out of the data folder",
    attempt: async ({ dataDir }) =>
      secret(await Deno.readTextFile(`${dataDir}/../secret.txt`)),
    control: async ({ dataDir }) =>
      await Deno.readTextFile(
        `${dataDir}/../${dataDir.split("/").at(-1)}/own.txt`,
      ) === "own",
  },
  {
    name: "make a symbolic link out of the data folder",
    attempt: async ({ dataDir, secretFile }) => {
      await Deno.symlink(secretFile, `${dataDir}/made`);
      return secret(await Deno.readTextFile(`${dataDir}/made`));
    },
    control: writeOwn,
  },
  {
    name: "make a hard link to another file",
    attempt: async ({ dataDir, secretFile }) => {
      await Deno.link(secretFile, `${dataDir}/hard`);
      return secret(await Deno.readTextFile(`${dataDir}/hard`));
    },
    control: writeOwn,
  },
  {
    name: "read the process's memory and environment in /proc",
    attempt: async () => secret(await Deno.readTextFile("/proc/self/environ")),
    control: readOwn,
  },
  {
    name: "reach a file through /proc/self/root",
    attempt: async ({ secretFile }) =>
      secret(await Deno.readTextFile(`/proc/self/root${secretFile}`)),
    control: readOwn,
  },
  {
    name: "list another folder",
    attempt: ({ secretFile }) => [
      ...Deno.readDirSync(secretFile.replace(/\/[^/]*$/, "")),
    ],
    control: ({ dataDir }) => [...Deno.readDirSync(dataDir)].length > 0,
  },
  {
    name: "write outside",
    attempt: ({ secretFile }) => Deno.writeTextFile(`${secretFile}.new`, "x"),
    control: writeOwn,
  },
  {
    name: "make a temporary file",
    attempt: () => Deno.makeTempFile(),
    control: ({ dataDir }) => Deno.makeTempFile({ dir: dataDir }),
  },
  {
    name: "move a file out",
    attempt: ({ dataDir, secretFile }) =>
      Deno.rename(`${dataDir}/moved.txt`, `${secretFile}.moved`),
    control: ({ dataDir }) =>
      Deno.rename(`${dataDir}/moved2.txt`, `${dataDir}/moved3.txt`),
  },
  {
    name: "change the working directory",
    attempt: () => Deno.chdir("/"),
    control: readOwn,
  },
];
