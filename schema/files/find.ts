/** Declared files, found by the exact spelling of every name on the way. */
import type { DeclaredFiles, EntryKind } from "./port.ts";

/** Why a declared file cannot be used. */
export interface FileFault {
  readonly constraint: string;
  readonly message: string;
  readonly advice: string;
}

/** Looks a path up; `undefined` means that it is an ordinary file. */
export async function findFile(
  files: DeclaredFiles,
  path: string,
): Promise<FileFault | undefined> {
  const names = path.split("/");
  let folder = "";
  for (const [index, name] of names.entries()) {
    const kind = (await files.list(folder))?.get(name);
    if (kind === undefined) return await missing(files, folder, path, name);
    const wanted = index === names.length - 1 ? "file" : "directory";
    const at = folder === "" ? name : `${folder}/${name}`;
    if (kind !== wanted) return wrongKind(at, kind, wanted);
    folder = at;
  }
  return undefined;
}

async function missing(
  files: DeclaredFiles,
  folder: string,
  path: string,
  name: string,
): Promise<FileFault> {
  const names = [...(await files.list(folder))?.keys() ?? []];
  const other = names.find((candidate) => fold(candidate) === fold(name));
  return other === undefined
    ? {
      constraint: "file_exists",
      message: `The file '${path}' does not exist`,
      advice:
        "Create it beside the manifest, or correct the path; paths are relative to the manifest's folder",
    }
    : {
      constraint: "file_case",
      message: `The file '${path}' is spelled '${other}' on disk`,
      advice:
        "Use one spelling: most hosts tell upper from lower case, even where this disk does not",
    };
}

function wrongKind(
  at: string,
  kind: EntryKind,
  wanted: EntryKind,
): FileFault {
  const found = kind === "link" ? "a symbolic link" : `a ${kind}`;
  return {
    constraint: "file_kind",
    message: `'${at}' is ${found}, not a ${wanted}`,
    advice: kind === "link"
      ? "Put the file itself there; bundles carry no links"
      : `Put a ${wanted} there`,
  };
}

function fold(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
